// The live view as text. Pure.
//
// Names and reasons come from the API server, whose users may write anything: all of them are
// escaped for the terminal.

#pragma once

#include <cstddef>
#include <string>

#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

struct ViewStyle {
  std::size_t width = 0;   // columns; longer lines are cut; 0: any length
  std::size_t height = 0;  // lines; sections are shortened and say by how much; 0: any number
  bool colours = false;    // one for each Tone
};

// Lines that end with "\n", except the last one if `height` is set, so that a terminal does not
// scroll. With a height, nodes in trouble are preferred to others.
[[nodiscard]] std::string view_text(const View& view, const ViewStyle& style);

}  // namespace holdfast::agent::lab::up
