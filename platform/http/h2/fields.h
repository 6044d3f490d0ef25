// Requests and answers as the header fields of HTTP/2: RFC 9113, 8.2 and 8.3.
//
// Names become lower case; what belongs to one connection of HTTP/1.1 is left out. What HTTP
// forbids is treated as over HTTP/1.1 (http/wire.h): such a request is refused, and such a header
// of an answer is left out.

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http::h2 {

// `authority` stands for a missing Host header. Its body's length is told. Errors: invalid (it
// cannot be written).
[[nodiscard]] Result<Headers> request_fields(const Request& request, std::string_view authority);

// A request without its body. Errors: invalid (not a request for a path, or not for
// exactly one host).
[[nodiscard]] Result<Request> to_request(const Headers& fields);

// With the length of Response::body, unless it is a stream or may have none.
[[nodiscard]] Headers response_fields(const Response& response);

// Status and headers; status 0 when there was none, as in trailers.
[[nodiscard]] Response to_response(Headers fields);

}  // namespace holdfast::http::h2
