// The output of a running `holdfast-lab up`: on a terminal the live view, which is redrawn;
// otherwise a line for each event.

#pragma once

#include "agent/lab/up/event_log.h"
#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

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

// Whether colours are wanted: not with NO_COLOR (no-color.org), nor on a dumb terminal.
[[nodiscard]] bool wants_colours();

}  // namespace holdfast::agent::lab::up
