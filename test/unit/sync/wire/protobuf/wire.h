// Functions with which tests write protobuf by hand.

#pragma once

#include <string>
#include <string_view>

#include "sync/wire/protobuf/cursor.h"

namespace holdfast::sync::wire {

// A field that contains text, bytes or a message.
inline std::string wire_field(int number, std::string_view bytes) {
  std::string out;
  append_wire(out, number, bytes);
  return out;
}

}  // namespace holdfast::sync::wire
