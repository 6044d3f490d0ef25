// Parses the body of an HTTP/1.1 message as its bytes arrive: with a Content-Length, chunked, or
// until the connection ends. It buffers only the current line of the chunked framing; decoded bytes
// are appended to the caller's string.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/http/head_reader.h"

namespace holdfast::http {

// Limits on the framing of a chunked body. Trailers are validated and dropped: nothing here uses
// them, and a header that arrives after the request was authorized would bypass the checks.
struct ChunkLimits {
  std::size_t line_bytes = 1024;             // a chunk's size and extensions, with CR LF
  std::size_t extension_bytes = 8UL * 1024;  // extensions of all chunks of a message
  std::size_t trailer_bytes = 8UL * 1024;    // all trailers of a message
};

class BodyReader {
 public:
  BodyReader(Extent extent, ChunkLimits limits, std::uint64_t bytes_max);

  // Consumes `bytes` up to the end of the body, appends the decoded bytes to `body`, and returns
  // how many it consumed. Errors: invalid, exhausted; refusal() is then the status to respond with.
  [[nodiscard]] Result<std::size_t> put(std::string_view bytes, std::string& body);

  [[nodiscard]] bool done() const { return stage_ == Stage::done; }
  [[nodiscard]] int refusal() const { return refusal_; }  // 400, 413 or 431

  // Call when the connection has ended. Returns whether the body is complete.
  [[nodiscard]] bool put_end();

  void set_bytes_max(std::uint64_t bytes_max);

 private:
  enum class Stage : std::uint8_t {
    data,        // `left_` bytes remain in a body with a length
    until_end,   // the body lasts until the connection ends
    chunk_line,  // a chunk's size and extensions
    chunk_data,  // `left_` bytes remain in the chunk
    chunk_end,   // CR LF after a chunk's data
    trailers,
    done,
  };

  [[nodiscard]] Result<std::size_t> put_data(std::string_view bytes, std::string& body);
  [[nodiscard]] Result<std::size_t> put_line(std::string_view bytes);
  [[nodiscard]] Status take_chunk_line(std::string_view line);
  [[nodiscard]] Status take_trailer(std::string_view line);
  [[nodiscard]] std::size_t line_bytes_max() const;
  [[nodiscard]] tl::unexpected<Error> refuse(int status, Errc code, std::string what);

  ChunkLimits limits_;
  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;  // of the body: announced, or received until the connection ends
  std::uint64_t left_ = 0;   // bytes of the body or chunk that have not arrived
  Stage stage_;
  LineReader line_;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  int refusal_ = 400;
};

}  // namespace holdfast::http
