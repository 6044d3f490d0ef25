#include "platform/tls/openssl.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>

namespace holdfast::tls {
namespace {

std::string_view view_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  if (inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return {};
  return text.data();
}

std::string name_text(const GENERAL_NAME* name) {
  int kind = 0;
  const void* value = GENERAL_NAME_get0_value(name, &kind);
  const auto* text = static_cast<const ASN1_STRING*>(value);
  if (kind == GEN_DNS) return "DNS:" + std::string(view_of(text));
  if (kind != GEN_IPADD) return {};
  const std::string address = address_text(view_of(text));
  return address.empty() ? std::string() : "IP:" + address;
}

// Never ask for a pass phrase on the terminal: an encrypted key is treated as unreadable.
int no_pass_phrase(char* /*into*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

}  // namespace

std::string openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "refused" : reason;
}

tl::unexpected<Error> refused(const std::string& what) {
  return fail(Errc::invalid, what + ": " + openssl_reason());
}

Bio bio_of(std::string_view bytes) {
  return {BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())), &BIO_free};
}

Bio bio_sink() { return {BIO_new(BIO_s_mem()), &BIO_free}; }

std::string text_of(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Key read_key(std::string_view pem) {
  const Bio bio = bio_of(pem);
  return {PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_pass_phrase, nullptr), &EVP_PKEY_free};
}

X509Ptr read_x509(std::string_view pem) {
  const Bio bio = bio_of(pem);
  return {PEM_read_bio_X509(bio.get(), nullptr, &no_pass_phrase, nullptr), &X509_free};
}

std::string pem_of(X509* certificate) {
  const Bio bio = bio_sink();
  return PEM_write_bio_X509(bio.get(), certificate) == 1 ? text_of(bio) : std::string();
}

bool add_name(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

std::string next_entry(const X509_NAME* name, int nid, int& at) {
  at = X509_NAME_get_index_by_NID(name, nid, at);
  if (at < 0) return {};
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, value);
  if (length < 0) return {};
  std::string text(utf8, utf8 + length);
  OPENSSL_free(utf8);
  return text;
}

std::vector<std::string> alternative_names(const STACK_OF(X509_EXTENSION) * extensions) {
  std::vector<std::string> found;
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> names(
      static_cast<GENERAL_NAMES*>(
          X509V3_get_d2i(extensions, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  if (names == nullptr) return found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    std::string text = name_text(sk_GENERAL_NAME_value(names.get(), i));
    if (!text.empty()) found.push_back(std::move(text));
  }
  return found;
}

}  // namespace holdfast::tls
