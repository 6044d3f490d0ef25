// When the output of `holdfast-lab up` has colours and a live view.

#include "agent/lab/up/screen.h"

#include <gtest/gtest.h>

namespace holdfast::agent::lab::up {
namespace {

TEST(UpScreen, ColoursAndTheLiveViewCanBeTurnedOff) {
  const struct {
    const char* what;
    Terminal terminal;
    bool plain;
    bool colours;
    bool live;
  } rows[] = {
      {"a terminal", {true, "xterm-256color", ""}, false, true, true},
      {"with NO_COLOR", {true, "xterm", "1"}, false, false, true},
      {"with --plain", {true, "xterm", ""}, true, true, false},
      {"with both", {true, "xterm", "yes"}, true, false, false},
      {"a dumb terminal", {true, "dumb", ""}, false, false, false},
      {"without TERM", {true, "", ""}, false, false, false},
      {"a file", {false, "xterm", ""}, false, false, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(shows_colours(row.terminal), row.colours) << row.what;
    EXPECT_EQ(shows_live_view(row.terminal, row.plain), row.live) << row.what;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::up
