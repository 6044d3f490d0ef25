// What the API server's answer to a write shows of the object that was written. Pure.

#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sync/objects/version.h"

namespace holdfast::sync::autonomy {

struct WrittenObject {
  std::string group;
  std::string resource;  // "pods"
  std::string namespace_name;
  std::string name;

  auto operator<=>(const WrittenObject&) const = default;
};

// The state of an object after a write.
struct AnsweredState {
  bool exists = true;
  // Those of an object that exists; `object` is the whole object in JSON.
  std::string uid = {};
  objects::Version version = 0;
  std::string object = {};

  bool operator==(const AnsweredState&) const = default;
};

// What is known of an object that was written.
struct LastAnswer {
  bool is_waiting = false;  // it has a write that was not sent yet
  // After its last write; nothing if that has no answer, or one that does not tell.
  std::optional<AnsweredState> state = {};
};
using LastAnswerOf = std::function<LastAnswer(const WrittenObject&)>;

struct WriteAnswer {
  std::string_view verb;  // the HTTP method; GET reads the object before its status is written
  std::string_view name;  // of the object
  int http_status = 200;
  std::string_view body = {};  // in either encoding
};

// Nothing if the answer does not tell. An object that was deleted exists as long as a finalizer or
// its grace period keeps it.
[[nodiscard]] std::optional<AnsweredState> answered_state(const WriteAnswer& answer);

}  // namespace holdfast::sync::autonomy
