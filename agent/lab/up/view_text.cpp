#include "agent/lab/up/view_text.h"

#include <algorithm>
#include <array>

#include "agent/lab/up/sections.h"
#include "platform/terminal.h"

namespace holdfast::agent::lab::up {
namespace {

constexpr std::size_t head_lines = 2;
constexpr std::size_t gap = 2;  // columns between two cells
constexpr std::string_view cut_mark = "...";

std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::heading:
      return "\x1b[2m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::soon:
      return "\x1b[33m";
  }
  return "";
}

// Writes lines of cells that are cut at the width.
class LineWriter {
 public:
  explicit LineWriter(const ViewStyle& style) : style_(style) {}

  void line(const std::vector<Shown>& cells, const std::vector<std::size_t>& widths) {
    std::size_t length = 0;  // of the whole line
    for (std::size_t i = 0; i < cells.size(); ++i) length += cell_width(cells, widths, i);
    const bool cut = style_.width > 0 && length > style_.width;
    left_ = style_.width;
    if (cut) left_ -= std::min(left_, cut_mark.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string text = cells[i].text;
      text.resize(cell_width(cells, widths, i), ' ');
      put(std::move(text), cells[i].tone);
    }
    if (cut) text_ += cut_mark.substr(0, style_.width);
    text_ += '\n';
  }
  void blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  // The last cell has no padding.
  static std::size_t cell_width(const std::vector<Shown>& cells,
                                const std::vector<std::size_t>& widths, std::size_t i) {
    if (i + 1 == cells.size() || i >= widths.size()) return cells[i].text.size();
    return widths[i] + gap;
  }
  void put(std::string text, Tone tone) {
    if (style_.width > 0) {
      text.resize(std::min(text.size(), left_));
      left_ -= text.size();
    }
    const std::string_view colour = style_.colours ? colour_of(tone) : "";
    if (colour.empty() || text.empty()) {
      text_ += text;
    } else {
      text_.append(colour).append(text).append("\x1b[0m");
    }
  }

  const ViewStyle& style_;
  std::string text_;
  std::size_t left_ = 0;
};

std::vector<std::size_t> widths_of(const Section& section) {
  std::vector<std::size_t> widths;
  const auto measure = [&widths](const std::vector<Shown>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() == i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].text.size());
    }
  };
  measure(section.heading);
  for (const Row& row : section.rows) measure(row.cells);
  return widths;
}

void escape(std::vector<Shown>& cells) {
  for (Shown& cell : cells) cell.text = escape_for_terminal(cell.text);
}

// How many lines each section's rows get: first one each, then in turn until all have enough or no
// line is left.
std::vector<std::size_t> share(std::size_t lines, const std::vector<Section>& sections) {
  std::vector<std::size_t> given(sections.size(), 0);
  bool changed = true;
  while (lines > 0 && changed) {
    changed = false;
    for (std::size_t i = 0; i < sections.size() && lines > 0; ++i) {
      if (given[i] >= sections[i].rows.size()) continue;
      ++given[i];
      --lines;
      changed = true;
    }
  }
  return given;
}

// Keeps `count` lines of rows, of which the last one says how many others there are.
void shorten(Section& section, std::size_t count) {
  if (section.rows.size() <= count) return;
  if (section.keeps_last) {
    section.rows.erase(section.rows.begin(), section.rows.end() - static_cast<long>(count));
    return;
  }
  const std::size_t kept = count == 0 ? 0 : count - 1;
  const std::string more = "and " + std::to_string(section.rows.size() - kept) + " more";
  std::stable_partition(section.rows.begin(), section.rows.end(),
                        [](const Row& row) { return row.in_trouble; });
  section.rows.resize(kept);
  if (count > 0) section.rows.push_back({.cells = {{more, Tone::heading}}});
}

void fit(std::vector<Section>& sections, std::size_t height) {
  const std::size_t fixed = head_lines + 2 * sections.size();
  const auto given = share(height > fixed ? height - fixed : 0, sections);
  for (std::size_t i = 0; i < sections.size(); ++i) shorten(sections[i], given[i]);
}

// The first `height` lines, without the end of the last one.
std::string first_lines(std::string text, std::size_t height) {
  std::size_t at = 0;
  for (std::size_t line = 0; line < height; ++line) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return text;
    at = end + 1;
  }
  text.resize(at - 1);
  return text;
}

}  // namespace

std::string view_text(const View& view, const ViewStyle& style) {
  LineWriter writer(style);
  std::vector<Shown> title = title_of(view);
  escape(title);
  writer.line(title, {});
  writer.line({Shown{escape_for_terminal(hint_of(view))}}, {});
  std::vector<Section> sections = sections_of(view);
  for (Section& section : sections) {
    for (Row& row : section.rows) escape(row.cells);
  }
  if (style.height > 0) fit(sections, style.height);
  for (const Section& section : sections) {
    const auto widths = widths_of(section);
    writer.blank();
    writer.line(section.heading, widths);
    for (const Row& row : section.rows) writer.line(row.cells, widths);
  }
  if (style.height == 0) return writer.take();
  return first_lines(writer.take(), style.height);
}

}  // namespace holdfast::agent::lab::up
