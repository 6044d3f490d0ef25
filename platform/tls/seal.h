// Seals bytes that are kept on a disk which may be stolen: AES-256-GCM under a key from a file.
//
// The same bytes under the same name seal to the same bytes, so that what did not change need not
// be written again: the nonce is made of the content (HMAC-SHA-256), and is never the same for
// different contents but by a chance of 2^-48 after 2^24 of them. The name is not stored, but what
// is sealed opens only under the name that it was sealed under. Any thread.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::tls {

class SealKey {
 public:
  static constexpr std::size_t bytes = 32;

  // From a file's content: 32 raw bytes, or their base64 with white space around it.
  // Errors: invalid, saying what is wrong with it; never the key itself.
  [[nodiscard]] static Result<SealKey> parse(std::string_view content);

  [[nodiscard]] std::string seal(std::string_view plain, std::string_view name) const;

  // Errors: denied (sealed with another key, or under another name), corrupt (no seal at all).
  [[nodiscard]] Result<std::string> open(std::string_view sealed, std::string_view name) const;

 private:
  explicit SealKey(std::string_view secret);
  std::string for_content_;
  std::string for_nonce_;
};

}  // namespace holdfast::tls
