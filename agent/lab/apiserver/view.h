// How objects leave the server: the version, form and list that a client asked for.

#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/apiserver/registry.h"
#include "platform/time.h"
#include "sync/apiserver/negotiate.h"
#include "sync/apiserver/resources.h"
#include "sync/apiserver/tables.h"

namespace holdfast::agent::lab {

struct View {
  const sync::Resource* resource = nullptr;
  const sync::ServedVersion* version = nullptr;
  sync::Form form = sync::Form::object;
  sync::IncludeObject include = sync::IncludeObject::metadata;  // of a table's rows

  // Whether objects go out byte for byte as they are stored.
  [[nodiscard]] bool as_stored() const;
  // The object in the view's version.
  [[nodiscard]] boost::json::object convert(const boost::json::object& object) const;
};

// One object as the body of an answer, with the newline that Go ends it with.
[[nodiscard]] std::string render(const View& view, const Stored& stored, WallTime now);
// The same of an object that is not stored (a dry run, a deleted object).
[[nodiscard]] std::string render(const View& view, const boost::json::object& object, WallTime now);

struct ListMeta {
  std::int64_t revision = 0;
  std::string continue_token = {};
  std::int64_t remaining = 0;  // 0: left out
};
[[nodiscard]] std::string render_list(const View& view, const std::vector<StoredPtr>& items,
                                      const ListMeta& meta, WallTime now);

// One event of a watch, a line. `with_columns` for a table's first.
[[nodiscard]] std::string render_event(const View& view, std::string_view type,
                                       const Stored& stored, WallTime now, bool with_columns);

// A bookmark; `initial_end` marks the end of the initial events.
[[nodiscard]] std::string render_bookmark(const View& view, std::int64_t revision,
                                          bool initial_end);

}  // namespace holdfast::agent::lab
