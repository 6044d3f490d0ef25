// Digests. Any thread.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::tls {

// SHA-256 in hexadecimal, 64 characters.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// SHA-1, 20 bytes. Only where a protocol demands it (WebSocket handshakes): it is not secure.
[[nodiscard]] std::string sha1(std::string_view bytes);

}  // namespace holdfast::tls
