// Draws the tracks and the marks as SVG.

#include <algorithm>
#include <cmath>

#include "agent/lab/demo/report.h"
#include "agent/lab/demo/tracks.h"
#include "agent/lab/result/html.h"

namespace holdfast::agent::demo {
namespace {

using lab::decimal;
using lab::element;
using lab::escape_html;

constexpr double width = 1240;
constexpr double left = 178;       // x of the start
constexpr double right = 14;       // margin after the end
constexpr double row_height = 18;  // from one track to the next
constexpr double bar = 13;         // height of a segment
constexpr double group = 38;       // height of a node's heading
constexpr double letter = 6;       // width of a label's letter, about
constexpr double label_row = 15;

double in_seconds(DemoTime at) { return std::chrono::duration<double>(at).count(); }

class Scale {
 public:
  Scale(DemoTime begin, DemoTime end) : begin_(in_seconds(begin)), end_(in_seconds(end)) {}
  [[nodiscard]] double x(DemoTime at) const {
    return left + (in_seconds(at) - begin_) / (end_ - begin_) * (width - left - right);
  }
  [[nodiscard]] double begin() const { return begin_; }
  [[nodiscard]] double end() const { return end_; }

 private:
  double begin_;
  double end_;
};

std::string text(double x, double y, const std::string& look, const std::string& words) {
  return element("text", {{"x", decimal(x)}, {"y", decimal(y)}, {"class", look}},
                 escape_html(words));
}

std::string line(double x, double from, double to, const std::string& look) {
  return element("line", {{"x1", decimal(x)},
                          {"x2", decimal(x)},
                          {"y1", decimal(from)},
                          {"y2", decimal(to)},
                          {"class", look}});
}

std::string draw(const Segment& stretch, const Scale& scale, double y) {
  const double from = scale.x(stretch.from);
  const double wide = std::max(scale.x(stretch.to) - from, 2.0);
  std::string markup = element("rect",
                               {{"x", decimal(from)},
                                {"y", decimal(y)},
                                {"width", decimal(wide)},
                                {"height", decimal(bar)},
                                {"rx", "2.5"},
                                {"class", "bar " + stretch.look}},
                               element("title", {}, escape_html(stretch.hint)));
  if (wide > letter * static_cast<double>(stretch.label.size()) + 8) {
    markup += text(from + 5, y + bar - 3, "in " + stretch.look, stretch.label);
  }
  return markup + "\n";
}

// The time axis below the rows.
std::string axis(const Scale& scale, double top, double bottom) {
  const int step = scale.end() - scale.begin() > 45 ? 10 : 5;
  std::string markup;
  for (int second = static_cast<int>(std::ceil(scale.begin() / step)) * step;
       second <= static_cast<int>(scale.end()); second += step) {
    const double x = scale.x(std::chrono::seconds(second));
    markup += line(x, top, bottom, "grid");
    markup += text(x, bottom + 15, "tick", std::to_string(second) + " s");
  }
  return markup;
}

// The marks of the events, above the rows, each with its text on a line of its own.
std::string draw_marks(const std::vector<Mark>& marks, const Scale& scale, double bottom) {
  std::string markup;
  double y = label_row;
  for (const Mark& mark : marks) {
    const double x = scale.x(mark.at);
    const bool at_the_right = x > width * 0.72;
    markup += line(x, y + 3, bottom, "mark");
    markup +=
        text(at_the_right ? x - 5 : x + 5, y, at_the_right ? "event end" : "event", mark.text);
    markup += element("circle",
                      {{"cx", decimal(x)}, {"cy", decimal(y - 4)}, {"r", "3"}, {"class", "dot"}});
    y += label_row;
  }
  return markup;
}

std::string draw(const Shade& shade, const Scale& scale, double top, double bottom) {
  const double from = scale.x(shade.from);
  return element("rect",
                 {{"x", decimal(from)},
                  {"y", decimal(top)},
                  {"width", decimal(scale.x(shade.to) - from)},
                  {"height", decimal(bottom - top)},
                  {"class", "outage"}},
                 element("title", {}, escape_html(shade.hint)));
}

}  // namespace

std::string timeline_svg(const Timeline& timeline) {
  const Scale scale(timeline.from, timeline.to);
  const double top = label_row * static_cast<double>(timeline.marks.size() + 1);
  std::string rows;
  std::string shades;
  std::string heading;
  double y = top;
  double group_top = top;
  const auto end_group = [&timeline, &scale, &heading, &group_top, &y, &shades] {
    for (const Shade& shade : timeline.shades) {
      if (shade.heading == heading) shades += draw(shade, scale, group_top - 4, y);
    }
  };
  for (const Track& track : timeline.tracks) {
    if (!track.heading.empty()) {
      end_group();
      rows += text(6, y + group - 12, "node", track.heading);
      y += group - 6;
      heading = track.heading;
      group_top = y;
    }
    rows += text(left - 8, y + bar - 3, "name", track.name);
    for (const Segment& stretch : track.segments) rows += draw(stretch, scale, y);
    y += row_height;
  }
  end_group();
  const std::string box = "0 0 " + decimal(width) + " " + decimal(y + 26);
  return element(
      "svg", {{"viewBox", box}, {"role", "img"}, {"xmlns", "http://www.w3.org/2000/svg"}},
      shades + axis(scale, top, y + 4) + rows + draw_marks(timeline.marks, scale, y + 4));
}

}  // namespace holdfast::agent::demo
