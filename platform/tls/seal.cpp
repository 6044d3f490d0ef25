#include "platform/tls/seal.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::tls {
namespace {

constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)>;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

std::string hmac(std::string_view key, std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(bytes), bytes.size(),
             raw(digest), &size) != nullptr);
  digest.resize(size);
  return digest;
}

// The length separates name and content: otherwise two pairs with the same concatenation would get
// the same nonce.
std::string nonce_for(std::string_view key, std::string_view plain, std::string_view name) {
  std::string bytes = std::to_string(name.size()) + ":";
  bytes.append(name).append(plain);
  return hmac(key, bytes).substr(0, nonce_bytes);
}

Cipher begin(std::string_view key, std::string_view nonce, std::string_view name, bool encrypt) {
  Cipher cipher(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  CHECK(cipher != nullptr);
  CHECK(EVP_CipherInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, raw(key), raw(nonce),
                          encrypt ? 1 : 0) == 1);
  int ignored = 0;
  CHECK(EVP_CipherUpdate(cipher.get(), nullptr, &ignored, raw(name),
                         static_cast<int>(name.size())) == 1);
  return cipher;
}

}  // namespace

SealKey::SealKey(std::string_view secret)
    : for_content_(hmac(secret, "holdfast seal: content")),
      for_nonce_(hmac(secret, "holdfast seal: nonce")) {}

Result<SealKey> SealKey::parse(std::string_view content) {
  if (content.size() == bytes) return SealKey(content);
  const auto decoded = base64_decode(trim(content));
  if (decoded && decoded->size() == bytes) return SealKey(*decoded);
  const std::string found = decoded ? "base64 of " + std::to_string(decoded->size())
                                    : std::to_string(content.size()) + " bytes that are not base64";
  return fail(Errc::invalid, "a key is 32 bytes, raw or in base64; found " + found);
}

std::string SealKey::seal(std::string_view plain, std::string_view name) const {
  std::string sealed = nonce_for(for_nonce_, plain, name);
  const Cipher cipher = begin(for_content_, sealed, name, true);
  std::string secret(plain.size(), '\0');
  int size = 0;
  CHECK(EVP_CipherUpdate(cipher.get(), raw(secret), &size, raw(plain),
                         static_cast<int>(plain.size())) == 1);
  int rest = 0;
  CHECK(EVP_CipherFinal_ex(cipher.get(), raw(secret) + size, &rest) == 1);
  std::string tag(tag_bytes, '\0');
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, tag.data()) == 1);
  return sealed.append(secret).append(tag);
}

Result<std::string> SealKey::open(std::string_view sealed, std::string_view name) const {
  if (sealed.size() < nonce_bytes + tag_bytes) return fail(Errc::corrupt, "not sealed data");
  const std::string_view nonce = sealed.substr(0, nonce_bytes);
  const std::size_t length = sealed.size() - nonce_bytes - tag_bytes;
  const std::string_view secret = sealed.substr(nonce_bytes, length);
  std::string tag(sealed.substr(nonce_bytes + length));
  const Cipher cipher = begin(for_content_, nonce, name, false);
  std::string plain(length, '\0');
  int size = 0;
  CHECK(EVP_CipherUpdate(cipher.get(), raw(plain), &size, raw(secret), static_cast<int>(length)) ==
        1);
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1);
  int rest = 0;
  if (EVP_CipherFinal_ex(cipher.get(), raw(plain) + size, &rest) == 1) return plain;
  return fail(Errc::denied, "sealed with another key");
}

}  // namespace holdfast::tls
