// Escapes characters that could harm or mislead when text from other programs is shown to people.
//
// Names, reasons and messages come from servers and their users. A terminal executes escape
// sequences in them, and direction marks or line breaks can mislead the reader. Bytes that are not
// UTF-8 are escaped, too. All functions are pure.

#pragma once

#include <string>
#include <string_view>

namespace holdfast {

enum class LineEnds : bool { escaped, kept };

// Replaces control characters (C0, DEL, C1), marks that change the direction of text, invisible
// characters and line separators by "\n", "\t", "\r", "\x1b", "\u202e" and so on. Other text is
// unchanged. Escaping twice gives the same result as escaping once.
[[nodiscard]] std::string escape_for_terminal(std::string_view text,
                                              LineEnds line_ends = LineEnds::escaped);

// Does the same for a JSON document, with JSON's own escapes ("\u001b"), so that its meaning stays
// the same. Line breaks and tabs between the tokens are kept.
[[nodiscard]] std::string escape_json_for_terminal(std::string_view document);

}  // namespace holdfast
