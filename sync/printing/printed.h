// Prints cached objects as an API server would: as a Table, or as metadata only. It knows the
// columns of the kinds in tables.h, and takes those of all other kinds from tables that an API
// server returned.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/objects/request_info.h"
#include "sync/printing/tables.h"
#include "sync/wire/accept.h"

namespace holdfast::sync::printing {

// Limits on what is stored about a resource's tables: columns, and the cells of each object by uid.
// It is stored as text without ages, so that it changes only when something else changes.
struct SeenTables {
  std::size_t rows_max = 500;
  std::size_t bytes_max = 256 << 10;  // of the stored text; beyond it only columns are stored
};

// Whether the columns of this resource are known without a table from an API server.
[[nodiscard]] bool has_columns(const objects::RequestInfo& info);

// Merges `table`, the newest response, into the stored text `seen` ("" for none). Errors: invalid
// (`table` is not a Table).
[[nodiscard]] Result<std::string> remember_table(std::string_view seen, std::string_view table,
                                                 const SeenTables& limits = {});

class Printer {
 public:
  // `seen` is the result of remember_table(), or "".
  Printer(const objects::RequestInfo& info, wire::Form form, IncludeObject include,
          std::string_view seen);

  // Prints an object or a List, given as JSON. A Status is not changed. Errors: invalid.
  [[nodiscard]] Result<std::string> print(std::string_view body, WallTime now) const;
  // Prints one watch event, given as JSON. Only the first one includes the columns. The Status of
  // an error is not changed. Errors: invalid.
  [[nodiscard]] Result<std::string> print_event(std::string_view event, WallTime now);

 private:
  [[nodiscard]] const boost::json::array& columns() const;
  [[nodiscard]] boost::json::array cells(const boost::json::object& object, WallTime now) const;
  [[nodiscard]] boost::json::object table(const boost::json::object& body, WallTime now,
                                          bool with_columns, IncludeObject include) const;
  [[nodiscard]] static boost::json::object metadata(const boost::json::object& body);
  [[nodiscard]] boost::json::object print(const boost::json::object& body, WallTime now,
                                          bool with_columns, IncludeObject include) const;

  const Resource* resource_;  // null: the columns are those in seen_
  wire::Form form_;
  IncludeObject include_;
  boost::json::object seen_;
  bool columns_sent_ = false;
};

}  // namespace holdfast::sync::printing
