// SHA-256 digests. Any thread.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::tls {

// The digest in hexadecimal, 64 characters.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace holdfast::tls
