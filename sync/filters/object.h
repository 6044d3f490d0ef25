// A cached object opened for a filter: read as JSON, changed there, and put back into the bytes it
// came in, with every field that nobody here knows.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/schema/schema.h"
#include "sync/watch/cached_form.h"

namespace holdfast::sync::filters {

class OpenedObject {
 public:
  // `bytes` are borrowed. Errors: invalid (broken; protobuf of a kind that the schema does not
  // have).
  [[nodiscard]] static Result<OpenedObject> open(std::string_view bytes);

  boost::json::object object;

  // The changed object in the form it had.
  // Errors: invalid (a value that is not of its field's type).
  [[nodiscard]] Result<std::string> close() const;

 private:
  std::string_view bytes_;
  const StructType* type_ = nullptr;  // null: it is JSON
  boost::json::object before_;        // of protobuf
};

}  // namespace holdfast::sync::filters
