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

}  // namespace

bool wants_colours() {
  const std::string off = proc::system_environment("NO_COLOR").value_or("");
  return off.empty() && proc::system_environment("TERM").value_or("dumb") != "dumb";
}

Screen::Screen(bool plain)
    : live_(!plain && isatty(STDOUT_FILENO) == 1 &&
            proc::system_environment("TERM").value_or("dumb") != "dumb"),
      colours_(wants_colours()) {}

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
