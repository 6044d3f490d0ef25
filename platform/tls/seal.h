// Encrypts data that is kept on a disk which may be stolen: AES-256-GCM with a key from a file.
//
// Sealing is deterministic: the same bytes under the same name give the same result, so that
// unchanged data need not be written again. For this the nonce is derived from name and content
// (HMAC-SHA-256); the probability that two of 2^24 contents share a nonce is below 2^-48. The name
// is authenticated but not stored: sealed data opens only under the name that it was sealed under.
// Any thread.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::tls {

class SealKey {
 public:
  static constexpr std::size_t bytes = 32;

  // Reads a key from a file's content: 32 raw bytes, or their base64 with optional white space
  // around it.
  // Errors: invalid, saying what is wrong; the text never contains the key.
  [[nodiscard]] static Result<SealKey> parse(std::string_view content);

  [[nodiscard]] std::string seal(std::string_view plain, std::string_view name) const;

  // Errors: denied (sealed with another key or under another name), corrupt (not sealed data).
  [[nodiscard]] Result<std::string> open(std::string_view sealed, std::string_view name) const;

 private:
  explicit SealKey(std::string_view secret);
  std::string for_content_;
  std::string for_nonce_;
};

}  // namespace holdfast::tls
