// Parses the body of an HTTP/1.1 message as its bytes arrive: by length, in chunks, or until the
// connection ends. Keeps nothing but the line under way; what it decodes goes to the caller.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/http/head_reader.h"

namespace holdfast::http {

// What surrounds the bytes of a body in chunks. Trailers are checked and dropped: nothing here uses
// one, and a header that comes after the decisions on the others would slip past them.
struct ChunkLimits {
  std::size_t line_bytes = 1024;             // a chunk's size and extensions, with the line's end
  std::size_t extension_bytes = 8UL * 1024;  // of all chunks of a message
  std::size_t trailer_bytes = 8UL * 1024;    // all trailers of a message
};

class BodyReader {
 public:
  BodyReader(Extent extent, ChunkLimits limits, std::uint64_t bytes_max);

  // Takes bytes up to the end of the body and appends what they mean to `body`; returns how many.
  // Errors: invalid, exhausted; refusal() then has the status to answer.
  [[nodiscard]] Result<std::size_t> put(std::string_view bytes, std::string& body);

  [[nodiscard]] bool done() const { return stage_ == Stage::done; }
  [[nodiscard]] int refusal() const { return refusal_; }  // 400, 413 or 431

  // The connection has ended. Whether that is the end of the body, too.
  [[nodiscard]] bool put_end();

  void set_bytes_max(std::uint64_t bytes_max);

 private:
  enum class Stage : std::uint8_t {
    data,        // `left_` bytes, then the body is done
    until_end,   // bytes until the connection ends
    chunk_line,  // a chunk's size
    chunk_data,  // `left_` bytes, then the line's end
    chunk_end,
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
  std::uint64_t bytes_ = 0;  // that were announced, or have come without that
  std::uint64_t left_ = 0;
  Stage stage_;
  LineReader line_;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  int refusal_ = 400;
};

}  // namespace holdfast::http
