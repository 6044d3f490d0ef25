#include "platform/tls/digest.h"

#include <openssl/sha.h>

#include "platform/text.h"

namespace holdfast::tls {

std::string sha256_hex(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return hex_encode(digest);
}

std::string sha1(std::string_view bytes) {
  std::string digest(SHA_DIGEST_LENGTH, '\0');
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
       reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace holdfast::tls
