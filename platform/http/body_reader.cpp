#include "platform/http/body_reader.h"

#include <algorithm>
#include <array>

#include "platform/http/grammar.h"
#include "platform/integers.h"
#include "platform/text.h"

namespace holdfast::http {
namespace {

std::string_view skip_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// The rest of `text` after a leading token; all of it if there is no token.
std::string_view skip_token(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_token(text.substr(size, 1))) ++size;
  return text.substr(size);
}

// The rest of `text` after a leading quoted string; all of it if the string is not terminated.
std::string_view skip_quoted(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return text.substr(at + 1);
    if (text[at] == '\\') ++at;
  }
  return text;
}

// Whether `text` is a list of chunk extensions (RFC 9112, 7.1.1): *( BWS ";" BWS name [ BWS "=" BWS
// ( token / quoted-string ) ] ).
bool are_extensions(std::string_view text) {
  while (!text.empty()) {
    text = skip_blanks(text);
    if (!text.starts_with(';')) return false;
    const std::string_view name = skip_blanks(text.substr(1));
    text = skip_token(name);
    if (text.size() == name.size()) return false;
    const std::string_view equals = skip_blanks(text);
    if (!equals.starts_with('=')) continue;
    const std::string_view value = skip_blanks(equals.substr(1));
    text = value.starts_with('"') ? skip_quoted(value) : skip_token(value);
    if (text.size() == value.size()) return false;
  }
  return true;
}

// Trailers that would change how the message itself is parsed (RFC 9110, 6.5.1).
bool is_forbidden_trailer(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"connection", "content-length", "host",
                                                  "proxy-connection", "transfer-encoding"};
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view known) { return equals_ignoring_case(known, name); });
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

BodyReader::BodyReader(Extent extent, ChunkLimits limits, std::uint64_t bytes_max)
    : limits_(limits), bytes_max_(bytes_max), stage_(Stage::done) {
  if (extent.kind == Extent::Kind::chunked) stage_ = Stage::chunk_line;
  if (extent.kind == Extent::Kind::until_end) stage_ = Stage::until_end;
  if (extent.kind == Extent::Kind::length && extent.length > 0) stage_ = Stage::data;
  if (stage_ == Stage::data) bytes_ = left_ = extent.length;
}

tl::unexpected<Error> BodyReader::refuse(int status, Errc code, std::string what) {
  refusal_ = status;
  return fail(code, std::move(what));
}

void BodyReader::set_bytes_max(std::uint64_t bytes_max) { bytes_max_ = bytes_max; }

bool BodyReader::put_end() {
  if (stage_ == Stage::until_end) stage_ = Stage::done;
  return done();
}

Result<std::size_t> BodyReader::put(std::string_view bytes, std::string& body) {
  if (bytes_ > bytes_max_) return refuse(413, Errc::exhausted, "the body is over the limit");
  std::size_t at = 0;
  while (at < bytes.size() && !done()) {
    const bool data = stage_ <= Stage::until_end || stage_ == Stage::chunk_data;
    const std::string_view rest = bytes.substr(at);
    TRY(const std::size_t used, data ? put_data(rest, body) : put_line(rest));
    at += used;
  }
  return at;
}

Result<std::size_t> BodyReader::put_data(std::string_view bytes, std::string& body) {
  if (stage_ == Stage::until_end) {
    if (bytes.size() > bytes_max_ - bytes_) {
      return refuse(413, Errc::exhausted, "the body is over the limit");
    }
    bytes_ += bytes.size();
    body += bytes;
    return bytes.size();
  }
  const std::size_t count = to_size(std::min<std::uint64_t>(bytes.size(), left_));
  body += bytes.substr(0, count);
  left_ -= count;
  if (left_ == 0) stage_ = stage_ == Stage::data ? Stage::done : Stage::chunk_end;
  return count;
}

std::size_t BodyReader::line_bytes_max() const {
  constexpr std::size_t end_size = 2;
  if (stage_ == Stage::chunk_end) return end_size;
  if (stage_ == Stage::trailers) return limits_.trailer_bytes - trailer_bytes_ + end_size;
  return limits_.line_bytes;
}

Result<std::size_t> BodyReader::put_line(std::string_view bytes) {
  const auto used = line_.put(bytes, line_bytes_max());
  if (!used && stage_ == Stage::chunk_end) {
    return refuse(400, Errc::invalid, "a chunk is longer than its size");
  }
  if (!used) {
    return refuse(used.error().code == Errc::exhausted ? 431 : 400, used.error().code,
                  "chunks: " + used.error().what);
  }
  if (!line_.complete()) return *used;
  Status taken;
  if (stage_ == Stage::chunk_end) {
    stage_ = Stage::chunk_line;
  } else if (stage_ == Stage::chunk_line) {
    taken = take_chunk_line(line_.line());
  } else {
    taken = take_trailer(line_.line());
  }
  if (!taken) return fail(taken.error());
  return *used;
}

Status BodyReader::take_chunk_line(std::string_view line) {
  constexpr std::size_t digits_max = 16;
  const auto digits =
      static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_hex) - line.begin());
  if (digits == 0 || digits > digits_max || !are_extensions(line.substr(digits))) {
    return refuse(400, Errc::invalid, "malformed chunk");
  }
  extension_bytes_ += line.size() - digits;
  if (extension_bytes_ > limits_.extension_bytes) {
    return refuse(431, Errc::exhausted, "the extensions of chunks are over the limit");
  }
  std::uint64_t size = 0;
  std::from_chars(line.data(), line.data() + digits, size, 16);
  if (bytes_ > bytes_max_ || size > bytes_max_ - bytes_) {
    return refuse(413, Errc::exhausted, "the body is over the limit");
  }
  bytes_ += size;
  left_ = size;
  stage_ = size == 0 ? Stage::trailers : Stage::chunk_data;
  return {};
}

Status BodyReader::take_trailer(std::string_view line) {
  if (line.empty()) {
    stage_ = Stage::done;
    return {};
  }
  trailer_bytes_ += line.size() + 2;
  if (trailer_bytes_ > limits_.trailer_bytes) {
    return refuse(431, Errc::exhausted, "the trailers are over the limit");
  }
  const auto field = parse_field(line);
  if (!field || is_forbidden_trailer(field->first)) {
    return refuse(400, Errc::invalid, "malformed trailer");
  }
  return {};
}

}  // namespace holdfast::http
