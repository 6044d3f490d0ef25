#include "sync/model/unknown_fields.h"

#include <boost/json/object.hpp>

namespace holdfast::sync::inline model {

bool UnknownFields::same(const UnknownFields& left, const UnknownFields& right) {
  return left.get() != nullptr && right.get() != nullptr && *left.get() == *right.get();
}

}  // namespace holdfast::sync::inline model
