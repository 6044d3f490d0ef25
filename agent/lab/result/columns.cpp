#include "agent/lab/result/columns.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "platform/terminal.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t column_gap = 2;
constexpr std::size_t narrowest = 8;

// At most `width` characters, the last one being '~' if some are missing.
std::string fitted(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  std::string kept;
  std::size_t count = 0;
  for (const char c : text) {
    const bool is_start = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (is_start && ++count == width) break;
    kept += c;
  }
  return kept + "~";
}

void append_line(std::string& lines, std::string& line, std::size_t indent) {
  if (line.empty()) return;
  lines += std::string(indent, ' ') + line + "\n";
  line.clear();
}

}  // namespace

std::string Palette::paint(const std::string& text, Tint tint) const {
  if (!has_colour || tint == Tint::plain) return text;
  const char* code = tint == Tint::bold ? "1" : tint == Tint::good ? "32" : "31";
  return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

Columns::Columns(std::vector<std::string> titles, std::size_t left) : left_(left) {
  std::vector<Cell> row;
  row.reserve(titles.size());
  for (std::string& title : titles) row.push_back({std::move(title), Tint::bold});
  rows_.push_back(std::move(row));
}

void Columns::add(std::vector<Cell> row) {
  CHECK(row.size() == rows_.front().size());
  for (Cell& cell : row) cell.text = escape_for_terminal(cell.text);
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Columns::widths() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      widths[at] = std::max(widths[at], characters(row[at].text));
    }
  }
  const auto total = [&widths] {
    std::size_t sum = column_gap * (widths.size() - 1);
    for (const std::size_t width : widths) sum += width;
    return sum;
  };
  while (total() > terminal_width) {
    const auto end = widths.begin() + static_cast<std::ptrdiff_t>(left_);
    const auto widest = std::max_element(widths.begin(), end);
    if (*widest <= narrowest) break;
    --*widest;
  }
  return widths;
}

std::string Columns::text(const Palette& palette) const {
  const std::vector<std::size_t> columns = widths();
  std::string lines;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::string shown = fitted(row[at].text, columns[at]);
      const std::string space(columns[at] - characters(shown), ' ');
      const std::string painted = palette.paint(shown, row[at].tint);
      line += (at == 0 ? "" : std::string(column_gap, ' '));
      line += at < left_ ? painted + space : space + painted;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines += line + "\n";
  }
  return lines;
}

std::string wrapped(std::string_view text, std::size_t indent) {
  const std::size_t width = terminal_width - indent;
  const std::string escaped = escape_for_terminal(text);
  std::string lines;
  std::string line;
  for (const std::string_view part : split(escaped, ' ')) {
    std::string word(part);
    if (!line.empty() && characters(line) + 1 + characters(word) > width) {
      append_line(lines, line, indent);
    }
    line += (line.empty() ? "" : " ") + word;
    for (; characters(line) > width; line = std::move(word)) {
      std::size_t end = width;
      while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
      word = line.substr(end);
      line.resize(end);
      append_line(lines, line, indent);
    }
  }
  append_line(lines, line, indent);
  return lines;
}

}  // namespace holdfast::agent::lab
