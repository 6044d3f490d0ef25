// gzip bodies: the result does not depend on how the network splits them, limits hold, and an
// inflater that has refused a body keeps refusing.

#include "platform/check.h"
#include "platform/http/inflate.h"
#include "test/fuzz/pieces.h"

namespace holdfast::http {
namespace {

constexpr InflateLimits limits{.body_bytes = 256UL << 10, .piece_bytes = 1000};

// The uncompressed bytes, or the error.
Result<std::string> in_pieces(std::string_view compressed) {
  Inflater inflater(limits);
  std::string all;
  for (const std::string_view piece : test::pieces(compressed)) {
    inflater.give(std::string(piece));
    for (;;) {
      auto plain = inflater.next();
      if (!plain) {
        CHECK(!inflater.next().has_value() && !inflater.finish().has_value());
        return plain;
      }
      CHECK(plain->size() <= limits.piece_bytes);
      if (plain->empty()) break;
      all += *plain;
    }
  }
  CHECK(all.size() <= limits.body_bytes);
  if (auto whole = inflater.finish(); !whole) return fail(whole.error());
  return all;
}

}  // namespace
}  // namespace holdfast::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = holdfast::test::text_of(data, size);
  const auto whole = holdfast::http::inflate(std::string(text), holdfast::http::limits);
  const auto pieces = holdfast::http::in_pieces(text);
  CHECK(whole.has_value() == pieces.has_value());
  if (whole) CHECK(*whole == *pieces);
  return 0;
}
