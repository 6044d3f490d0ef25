// The bytes of HTTP/1.1 messages that we send.
//
// What HTTP forbids (http/grammar.h) is never sent, and never altered either: such a request is
// refused, and such a header of an answer is left out, because the answer has to be given.

#pragma once

#include <string>
#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

enum class Framing : std::uint8_t {
  length,   // Content-Length of Response::body
  chunked,  // a stream
  none,     // 101, 204, 304: no body follows
};

// The status line and headers, ending with the empty line. Our framing headers replace given ones.
[[nodiscard]] std::string response_head(const Response& response, Framing framing, bool keep_alive);

// A whole request, without the headers of another connection (http/hops.h). `host` fills a missing
// Host header. Errors: invalid (it cannot be written).
[[nodiscard]] Result<std::string> request_bytes(const Request& request, std::string_view host);

// One chunk of a chunked body, and its end.
[[nodiscard]] std::string chunk(std::string_view piece);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

// Whether answers of this status never have a body.
[[nodiscard]] constexpr bool has_no_body(int status) { return status == 204 || status == 304; }

// "OK", "Not Found"; "" for a status nobody knows.
[[nodiscard]] std::string_view reason_phrase(int status);

}  // namespace holdfast::http
