// Objects with every field of the tables, for tests of conversions.

#pragma once

#include <boost/json.hpp>
#include <set>
#include <string>

#include "platform/text.h"
#include "platform/time.h"
#include "sync/model/schema.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"

namespace holdfast::sync::inline model::test {

// Makes objects that have all fields of their type that exist in protobuf, each with a different
// value.
class FullObjects {
 public:
  json::object object(const StructType& type) {
    json::object made;
    if (!open_.insert(type.name).second) return made;  // a type that contains itself
    for (const Field& field : type.fields) {
      if (field.number != 0) made[field.name] = value(field);
    }
    open_.erase(type.name);
    return made;
  }

 private:
  json::value value(const Field& field) {
    if (field.shape == Shape::list) return json::array{single(field), single(field)};
    if (field.shape == Shape::map)
      return json::object{{"k1", single(field)}, {"k2", single(field)}};
    return single(field);
  }

  json::value single(const Field& field) {
    ++count_;
    switch (field.scalar) {
      case Scalar::text:
        return json::value("text" + std::to_string(count_));
      case Scalar::boolean:
        return true;
      case Scalar::int32:
        return count_;
      case Scalar::int64:
        return count_ + (std::int64_t{1} << 40U);
      case Scalar::quantity:
        return json::value(std::to_string(count_) + "Mi");
      case Scalar::int_or_string:
        return count_ % 2 == 0 ? json::value(count_) : json::value(std::to_string(count_) + "%");
      case Scalar::time:
        return json::value(format_rfc3339(WallTime(std::chrono::seconds(1'700'000'000 + count_))));
      case Scalar::micro_time:
        return json::value(
            format_rfc3339(WallTime(std::chrono::microseconds(1'700'000'000'000'000 + count_)),
                           TimeDigits::micros));
      case Scalar::bytes:
        return json::value(base64_encode("bytes" + std::to_string(count_)));
      case Scalar::any:
        return json::object{{"free", json::array{count_, "form", nullptr}}};
      case Scalar::strings:
        return json::array{"one" + std::to_string(count_), "two"};
      case Scalar::object:
        return object(*field.type);
    }
    return nullptr;
  }

  std::int64_t count_ = 0;
  std::set<std::string_view> open_;
};

inline json::object full_object(const StructType& type) {
  FullObjects objects;
  return objects::shape(type, objects.object(type)).value().object;
}

}  // namespace holdfast::sync::inline model::test
