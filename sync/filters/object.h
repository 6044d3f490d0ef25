// Opens a cached object for a filter: decodes it to JSON and, after changes, encodes it again in
// its own form. Fields that the schema does not have are kept. Pure.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/model/schema.h"
#include "sync/watch/cached_form.h"

namespace holdfast::sync::filters {

class OpenedObject {
 public:
  // Borrows `bytes`. Errors: invalid (broken, or protobuf of a kind that the schema does not have).
  [[nodiscard]] static Result<OpenedObject> open(std::string_view bytes);

  boost::json::object object;

  // The changed object in its original form. Errors: invalid (a value that does not have its
  // field's type).
  [[nodiscard]] Result<std::string> close() const;

 private:
  std::string_view bytes_;
  const StructType* type_ = nullptr;  // null: the object is JSON
  boost::json::object before_;        // the object before the changes; protobuf only
};

}  // namespace holdfast::sync::filters
