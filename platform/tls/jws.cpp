#include "platform/tls/jws.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::tls {
namespace {

std::string base64_url(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
             reinterpret_cast<unsigned char*>(digest.data()), &size) != nullptr);
  digest.resize(size);
  return digest;
}

}  // namespace

std::string detached_jws(std::string_view content, std::string_view key_id, std::string_view key) {
  for (const char c : key_id) CHECK(is_alnum(c) || c == '-' || c == '_');
  const std::string header =
      base64_url(R"({"alg":"HS256","kid":")" + std::string(key_id) + R"("})");
  return header + ".." + base64_url(hmac_sha256(key, header + "." + base64_url(content)));
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace holdfast::tls
