// Which characters HTTP allows in which part of a message (RFC 9110, 5; RFC 9112, 3). The readers
// and writers of HTTP/1.1 and HTTP/2 all use these functions.

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// A valid method or header name.
[[nodiscard]] bool is_token(std::string_view text);

// A valid header value: no control characters except the tab, and no blanks at either end. May be
// empty.
[[nodiscard]] bool is_field_value(std::string_view text);

// A valid request target in origin-form: it begins with "/" and has printable ASCII only, no space
// and no fragment. Any other target could end the request line early or name another resource
// upstream.
[[nodiscard]] bool is_acceptable_target(std::string_view target);

// A valid value of Host or :authority: a name or an address, optionally with a port. Not empty.
[[nodiscard]] bool is_host(std::string_view text);

// Whether `list`, the value of a header such as Connection, contains the element `token`, ignoring
// case.
[[nodiscard]] bool lists_token(std::string_view list, std::string_view token);

// Whether method, target and headers of `request` may be sent. Errors: invalid, naming the part but
// never a value, which may be secret.
[[nodiscard]] Status check_writable(const Request& request);

// Whether a header may be sent.
[[nodiscard]] bool is_writable(const Header& header);

}  // namespace holdfast::http
