#include "agent/lab/up/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/lab/up/view_text.h"
#include "platform/proc/notify.h"
#include "platform/terminal.h"

namespace holdfast::agent::lab::up {
namespace {

// The alternate screen, without a cursor.
constexpr const char* enter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr const char* leave = "\x1b[?25h\x1b[?1049l";

void write_out(const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
  (void)std::fflush(stdout);
}

ViewStyle terminal_style(bool colours) {
  winsize size{};
  ViewStyle style{.width = 79, .height = 24, .colours = colours};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    // The last column stays free: a terminal that has written it clears it with the rest of the
    // line.
    style.width = std::max<std::size_t>(size.ws_col, 2) - 1;
    style.height = size.ws_row;
  }
  return style;
}

// Every line overwrites what stood there.
std::string as_frame(const std::string& text) {
  std::string frame = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') frame += "\x1b[K\r";
    frame += c;
  }
  return frame + "\x1b[K\x1b[J";
}

std::string line_of(const EventLine& event) {
  const std::string at = seconds_text(event.at);
  return std::string(at.size() < 8 ? 8 - at.size() : 0, ' ') + at + "  " +
         escape_for_terminal(event.text) + "\n";
}

// Whether it understands the codes that move the cursor and set colours.
bool is_capable(const Terminal& terminal) {
  return !terminal.type.empty() && terminal.type != "dumb";
}

}  // namespace

Terminal Terminal::of_stdout() {
  return {.is_terminal = isatty(STDOUT_FILENO) == 1,
          .type = proc::system_environment("TERM").value_or(""),
          .no_color = proc::system_environment("NO_COLOR").value_or("")};
}

bool shows_live_view(const Terminal& terminal, bool plain) {
  return !plain && terminal.is_terminal && is_capable(terminal);
}

bool shows_colours(const Terminal& terminal) {
  return terminal.is_terminal && terminal.no_color.empty() && is_capable(terminal);
}

Screen::Screen(bool plain)
    : live_(shows_live_view(Terminal::of_stdout(), plain)),
      colours_(shows_colours(Terminal::of_stdout())) {}

void Screen::say(const std::string& text) { write_out(text + "\n"); }

void Screen::open() {
  opened_ = true;
  if (live_) write_out(enter);
}

void Screen::show(const View& view, const EventLog& events) {
  if (!opened_) return;
  if (live_) return write_out(as_frame(view_text(view, terminal_style(colours_))));
  const std::vector<EventLine> last = events.last();
  const std::size_t fresh = std::min(last.size(), events.added() - printed_);
  std::string text;
  for (std::size_t i = last.size() - fresh; i < last.size(); ++i) text += line_of(last[i]);
  printed_ = events.added();
  if (!text.empty()) write_out(text);
}

void Screen::close() {
  if (opened_ && live_) write_out(leave);
  opened_ = false;
}

}  // namespace holdfast::agent::lab::up
