// Headers of SPDY/3.1 streams: names and values in one zlib stream per direction, which begins with
// a dictionary that the protocol prescribes.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::http::spdy {

class HeaderDecoder {
 public:
  // A block that expands to more than `header_bytes` is refused before it is stored.
  explicit HeaderDecoder(std::size_t header_bytes);
  ~HeaderDecoder();
  HeaderDecoder(const HeaderDecoder&) = delete;
  HeaderDecoder& operator=(const HeaderDecoder&) = delete;

  // The headers of the next block. Errors: corrupt, exhausted. After an error, later blocks cannot
  // be decoded.
  [[nodiscard]] Result<Headers> decode(std::string_view block);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
  std::size_t header_bytes_;
};

class HeaderEncoder {
 public:
  HeaderEncoder();
  ~HeaderEncoder();
  HeaderEncoder(const HeaderEncoder&) = delete;
  HeaderEncoder& operator=(const HeaderEncoder&) = delete;

  // Blocks must be sent in the order in which they were encoded.
  [[nodiscard]] std::string encode(const Headers& headers);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace holdfast::http::spdy
