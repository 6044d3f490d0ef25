// Which characters HTTP allows in which part of a message (RFC 9110, 5; RFC 9112, 3). Readers and
// writers, of HTTP/1.1 and of HTTP/2, all ask here.

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// A method or a header's name.
[[nodiscard]] bool is_token(std::string_view text);

// A header's value: no control characters but the tab, and no blanks around it. May be empty.
[[nodiscard]] bool is_field_value(std::string_view text);

// The target of a request in origin-form: begins with "/", printable ASCII only, no space and no
// fragment. Any other target could end the request line early or mean another resource upstream.
[[nodiscard]] bool is_acceptable_target(std::string_view target);

// The value of Host or :authority: a name or an address, and perhaps a port. Not empty.
[[nodiscard]] bool is_host(std::string_view text);

// Whether `list`, the value of a header such as Connection, has the element `token`; without regard
// to case.
[[nodiscard]] bool lists_token(std::string_view list, std::string_view token);

// Whether method, target and headers of `request` may be written. Errors: invalid, naming the part
// and never a value, which may be secret.
[[nodiscard]] Status check_writable(const Request& request);

// Whether a header may be written.
[[nodiscard]] bool is_writable(const Header& header);

}  // namespace holdfast::http
