// Converts requests and responses to and from the header fields of HTTP/2 (RFC 9113, 8.2 and 8.3).
//
// Names become lower case, and hop-by-hop headers are left out. As in HTTP/1.1 (http/wire.h), a
// request with something that HTTP forbids is refused, and a forbidden header of a response is left
// out.

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http::h2 {

// The fields of a request; `authority` replaces a missing Host header. A content-length is added.
// Errors: invalid (the request cannot be written).
[[nodiscard]] Result<Headers> request_fields(const Request& request, std::string_view authority);

// Parses a request without its body. Errors: invalid (the target is not a path, or there is not
// exactly one host).
[[nodiscard]] Result<Request> to_request(const Headers& fields);

// The fields of a response. A content-length is added unless the body is a stream or the status
// allows none.
[[nodiscard]] Headers response_fields(const Response& response);

// Parses status and headers. The status is 0 if there is none, as in trailers.
[[nodiscard]] Response to_response(Headers fields);

}  // namespace holdfast::http::h2
