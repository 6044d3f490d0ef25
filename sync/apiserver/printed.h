// Prints cached objects as an API server would for people: as a Table, or as metadata alone. It
// knows the columns of the kinds that we serve ourselves (tables.h), and learns those of all others
// from tables that an API server made.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/api/request_info.h"
#include "sync/apiserver/negotiate.h"
#include "sync/apiserver/tables.h"

namespace holdfast::sync {

// What is remembered of a resource's tables: columns, and the cells of each object by its uid.
// Text, to be kept; ages are left out of it, so that it changes only when something else does.
struct SeenTables {
  std::size_t rows_max = 500;
  std::size_t bytes_max = 256 << 10;  // of what is remembered; larger: the columns alone
};

// Whether the columns of this resource are known without any table having been seen.
[[nodiscard]] bool has_columns(const RequestInfo& info);

// `seen` ("" for nothing) together with `table`, the newest answer. Errors: invalid (`table` is not
// a Table).
[[nodiscard]] Result<std::string> remember_table(std::string_view seen, std::string_view table,
                                                 const SeenTables& limits = {});

class Printer {
 public:
  // `seen` is what remember_table() made, or "".
  Printer(const RequestInfo& info, Form form, IncludeObject include, std::string_view seen);

  // An object or a List, in JSON, as it is printed. A Status is left alone. Errors: invalid.
  [[nodiscard]] Result<std::string> print(std::string_view body, WallTime now) const;
  // One watch event, in JSON. The first goes with the columns. An error's Status is left alone.
  [[nodiscard]] Result<std::string> print_event(std::string_view event, WallTime now);

 private:
  [[nodiscard]] const boost::json::array& columns() const;
  [[nodiscard]] boost::json::array cells(const boost::json::object& object, WallTime now) const;
  [[nodiscard]] boost::json::object table(const boost::json::object& body, WallTime now,
                                          bool with_columns, IncludeObject include) const;
  [[nodiscard]] static boost::json::object metadata(const boost::json::object& body);
  [[nodiscard]] boost::json::object print(const boost::json::object& body, WallTime now,
                                          bool with_columns, IncludeObject include) const;

  const Resource* resource_;  // null: the columns are learnt ones
  Form form_;
  IncludeObject include_;
  boost::json::object seen_;
  bool told_columns_ = false;
};

}  // namespace holdfast::sync
