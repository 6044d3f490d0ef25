#include "store/pack.h"

#include <zlib.h>

#include <algorithm>

#include "platform/check.h"

namespace holdfast::store {
namespace {

// Raw deflate without header and checksum, because rows have their own. A window of 8 KiB and small
// tables suffice for API objects of a few KiB: 48 KiB of memory to pack, 16 KiB to unpack.
constexpr int window_bits = -13;
constexpr int table_level = 5;

constexpr std::size_t step_bytes = 256;
constexpr std::size_t expansion_max = 1032;  // deflate's maximum: 258 bytes from two bits

unsigned char* bytes_of(std::string_view text) {
  // zlib does not write through next_in.
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(text.data()));
}

std::size_t rounded_up(std::size_t size) {
  return (size + step_bytes - 1) / step_bytes * step_bytes;
}

// Returns "" if the result would be larger than `most` bytes.
std::string deflated(std::string_view plain, std::size_t most) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, table_level,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(most, '\0');
  stream.next_in = bytes_of(plain);
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(result == Z_STREAM_END ? stream.total_out : 0);
  (void)deflateEnd(&stream);
  return packed;
}

bool is_zeros(std::string_view text) {
  return text.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

Packed pack(std::string_view plain, PackStep step) {
  constexpr PackLimits limits;
  if (plain.size() < limits.plain_min || plain.size() > limits.plain_max) return {};
  Packed packed{.bytes = deflated(plain, plain.size() - 1)};
  if (packed.bytes.empty()) return {};
  if (step == PackStep::coarse) packed.bytes.resize(rounded_up(packed.bytes.size()));
  if (packed.bytes.size() >= plain.size()) return {};
  packed.plain_size = static_cast<std::int64_t>(plain.size());
  return packed;
}

Result<std::string> unpack(std::string_view packed, std::int64_t plain_size) {
  constexpr PackLimits limits;
  const std::size_t most = std::min(limits.plain_max, packed.size() * expansion_max);
  if (plain_size <= 0 || static_cast<std::size_t>(plain_size) > most) {
    return fail(Errc::corrupt, "packed bytes with an impossible size");
  }
  z_stream stream{};
  CHECK(inflateInit2(&stream, window_bits) == Z_OK);
  std::string plain(static_cast<std::size_t>(plain_size), '\0');
  stream.next_in = bytes_of(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<unsigned char*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.total_out == plain.size();
  const std::string_view filling = packed.substr(packed.size() - stream.avail_in);
  (void)inflateEnd(&stream);
  if (!whole || filling.size() >= step_bytes || !is_zeros(filling)) {
    return fail(Errc::corrupt, "packed bytes that do not unpack");
  }
  return plain;
}

}  // namespace holdfast::store
