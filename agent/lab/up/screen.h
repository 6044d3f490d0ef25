// The output of a running `holdfast-lab up`: on a terminal the live view, which is redrawn;
// otherwise a line for each event.

#pragma once

#include <string>

#include "agent/lab/up/event_log.h"
#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

// Where output goes.
struct Terminal {
  bool is_terminal = false;   // and not a file or a pipe
  std::string type = {};      // the variable TERM; "" counts as "dumb"
  std::string no_color = {};  // the variable NO_COLOR (no-color.org)

  [[nodiscard]] static Terminal of_stdout();
};

// Whether the live view can be shown; with `plain` it is not wanted.
[[nodiscard]] bool shows_live_view(const Terminal& terminal, bool plain);
// Whether colours are wanted: not with NO_COLOR, nor on a dumb terminal.
[[nodiscard]] bool shows_colours(const Terminal& terminal);

class Screen {
 public:
  // Finds out whether standard output is a terminal. `plain` asks for lines in any case.
  explicit Screen(bool plain);
  ~Screen() { close(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  [[nodiscard]] bool is_live() const { return live_; }
  // Prints a line, before open() and after close().
  static void say(const std::string& text);
  // Takes over the terminal.
  void open();
  void show(const View& view, const EventLog& events);
  // Gives the terminal back as it was.
  void close();

 private:
  bool live_ = false;
  bool colours_ = false;
  bool opened_ = false;
  std::size_t printed_ = 0;  // events
};

}  // namespace holdfast::agent::lab::up
