// Serializes HTTP/1.1 messages.
//
// What HTTP forbids (http/grammar.h) is never sent and never silently changed: such a request is
// refused; such a header of a response is left out, because a response must be sent.

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

// The status line and headers, ending with the empty line. Framing headers of the message are
// replaced by those of `framing`.
[[nodiscard]] std::string response_head(const Response& response, Framing framing, bool keep_alive);

// A complete request, without hop-by-hop headers (http/hops.h). `host` replaces a missing Host
// header. Errors: invalid (the request cannot be written).
[[nodiscard]] Result<std::string> request_bytes(const Request& request, std::string_view host);

// One chunk of a chunked body, and the last chunk, which ends it.
[[nodiscard]] std::string chunk(std::string_view piece);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

// Whether responses with this status never have a body.
[[nodiscard]] constexpr bool has_no_body(int status) { return status == 204 || status == 304; }

// "OK", "Not Found"; "" for an unknown status.
[[nodiscard]] std::string_view reason_phrase(int status);

}  // namespace holdfast::http
