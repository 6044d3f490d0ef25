// base64, declared in platform/text.h. It is here because only this folder uses OpenSSL.

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast {
namespace {

// OpenSSL counts with int, and the encoded text is longer than the bytes.
constexpr std::size_t size_max = std::numeric_limits<int>::max() / 2;

const unsigned char* start_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* start_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  CHECK(bytes.size() <= size_max);
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(start_of(text), start_of(bytes), static_cast<int>(bytes.size()));
  return text;
}

// EVP_DecodeBlock() reads '=' as a zero anywhere, and drops white space at both ends and '-' at the
// end. The padding is therefore checked here, and the count that it returns shows whether it
// dropped anything.
Result<std::string> base64_decode(std::string_view text) {
  const auto bad = [] { return fail(Errc::invalid, "illegal base64 data"); };
  const std::string_view padding = text.substr(std::min(text.find('='), text.size()));
  const bool is_padding = padding.empty() || padding == "=" || padding == "==";
  if (text.size() % 4 != 0 || !is_padding || text.size() > size_max) return bad();
  std::string bytes(text.size() / 4 * 3, '\0');
  const int count = EVP_DecodeBlock(start_of(bytes), start_of(text), static_cast<int>(text.size()));
  if (count < 0 || static_cast<std::size_t>(count) != bytes.size()) return bad();
  bytes.erase(bytes.size() - padding.size());
  return bytes;
}

}  // namespace holdfast
