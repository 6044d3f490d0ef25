// Text in columns of at most 80 characters, for the terminal. Text is escaped for a terminal.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::agent::lab {

inline constexpr std::size_t terminal_width = 80;

enum class Tint : unsigned char { plain, bold, good, bad };

// Adds ANSI colours if it is told that the output is a terminal.
struct Palette {
  bool has_colour = false;
  [[nodiscard]] std::string paint(const std::string& text, Tint tint) const;
};

struct Cell {
  std::string text;
  Tint tint = Tint::plain;
};

// A table whose first column is aligned to the left, as are those in `left`; all others hold
// numbers and are aligned to the right. The widest column that is aligned to the left is shortened
// until the line fits.
class Columns {
 public:
  explicit Columns(std::vector<std::string> titles, std::size_t left = 1);
  void add(std::vector<Cell> row);  // as many cells as there are titles
  [[nodiscard]] std::string text(const Palette& palette) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::size_t left_;
  std::vector<std::vector<Cell>> rows_;
};

// The characters of UTF-8 text.
[[nodiscard]] std::size_t characters(std::string_view text);

// Breaks `text` into lines of at most `terminal_width`, each of which starts with `indent` spaces.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent);

}  // namespace holdfast::agent::lab
