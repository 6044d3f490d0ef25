// Renders objects, lists and watch events in the version and form that a client requested.

#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/apiserver/registry.h"
#include "agent/lab/rules/custom_resource.h"
#include "platform/time.h"
#include "sync/printing/resources.h"
#include "sync/printing/tables.h"
#include "sync/wire/accept.h"

namespace holdfast::agent::lab {

struct View {
  const sync::printing::Resource* resource = nullptr;
  const sync::printing::ServedVersion* version = nullptr;
  std::shared_ptr<const CustomResource> custom = {};  // keeps `resource`, if it is a custom one
  sync::wire::Form form = sync::wire::Form::object;
  sync::printing::IncludeObject include =
      sync::printing::IncludeObject::metadata;  // the objects in a table's rows

  // Whether the requested version is the stored one, so that stored bytes can be sent unchanged.
  [[nodiscard]] bool as_stored() const;
  // Converts a stored object to the view's version.
  [[nodiscard]] boost::json::object convert(const boost::json::object& object) const;
};

// One object as the body of an answer, with a final newline as Go's encoder writes it.
[[nodiscard]] std::string render(const View& view, const Stored& stored, WallTime now);
// The same for an object that is not in the registry (a dry run, a deleted object).
[[nodiscard]] std::string render(const View& view, const boost::json::object& object, WallTime now);

struct ListMeta {
  std::int64_t revision = 0;
  std::string continue_token = {};
  std::int64_t remaining = 0;  // 0: left out
};
[[nodiscard]] std::string render_list(const View& view, const std::vector<StoredPtr>& items,
                                      const ListMeta& meta, WallTime now);

// One watch event as a line. `with_columns`: with the column definitions, for the first event of a
// table.
[[nodiscard]] std::string render_event(const View& view, std::string_view type,
                                       const Stored& stored, WallTime now, bool with_columns);

// A bookmark; `initial_end` marks the end of the initial events.
[[nodiscard]] std::string render_bookmark(const View& view, std::int64_t revision,
                                          bool initial_end);

}  // namespace holdfast::agent::lab
