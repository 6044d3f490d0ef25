// Text from elsewhere, made safe to be shown to people.
//
// Names, reasons and messages come from servers and their users. A terminal obeys escape sequences
// in them, and text that changes its direction or holds a line end misleads readers. Bytes that are
// not UTF-8 are escaped, too.

#pragma once

#include <string>
#include <string_view>

namespace holdfast {

enum class LineEnds : bool { escaped, kept };

// Control characters (C0, DEL, C1), marks that change the direction of text, invisible characters
// and line separators as "\n", "\t", "\r", "\x1b" or "\u202e"; the rest as it is. Escaping twice
// gives the same as escaping once.
[[nodiscard]] std::string escape_for_terminal(std::string_view text,
                                              LineEnds line_ends = LineEnds::escaped);

// The same for a JSON document: "\u001b" and so on, which mean the same within strings. Line ends
// and tabs between the tokens stay.
[[nodiscard]] std::string escape_json_for_terminal(std::string_view document);

}  // namespace holdfast
