#include "test/support/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "platform/check.h"

namespace holdfast::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;
using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;

Key make_key() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), &EVP_PKEY_free);
  CHECK(key != nullptr);
  return key;
}

std::string text_of(const Bio& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio);
}

std::string pem_of(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bio);
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  CHECK(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                   0) == 1);
}

void extend(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  CHECK(extension != nullptr);
  CHECK(X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// In the type of OpenSSL's parameter, which has 32 bits on some machines.
long seconds_of(std::chrono::seconds time) {
  return std::chrono::duration_cast<std::chrono::duration<long>>(time).count();
}

Certificate make_certificate(const Subject& subject, EVP_PKEY* key) {
  static long serial = 1;
  Certificate made(X509_new(), &X509_free);
  X509* certificate = made.get();
  CHECK(X509_set_version(certificate, X509_VERSION_3) == 1);
  CHECK(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++) == 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), seconds_of(subject.begins));
  X509_gmtime_adj(X509_getm_notAfter(certificate), seconds_of(subject.ends));
  X509_NAME* name = X509_get_subject_name(certificate);
  for (const std::string& organization : subject.organizations) add_name(name, "O", organization);
  add_name(name, "CN", subject.common_name);
  CHECK(X509_set_pubkey(certificate, key) == 1);
  return made;
}

}  // namespace

struct Authority::State {
  Key key;
  Certificate certificate;
};

Authority::Authority(const std::string& common_name, std::chrono::seconds ends)
    : state_(new State{make_key(), Certificate(nullptr, &X509_free)}) {
  state_->certificate =
      make_certificate({.common_name = common_name, .ends = ends}, state_->key.get());
  X509* certificate = state_->certificate.get();
  CHECK(X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1);
  extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
  CHECK(X509_sign(certificate, state_->key.get(), EVP_sha256()) > 0);
}

Authority::~Authority() = default;

std::string Authority::certificate_pem() const { return pem_of(state_->certificate.get()); }

tls::Identity Authority::sign(const Subject& subject) const {
  const Key key = make_key();
  const Certificate made = make_certificate(subject, key.get());
  std::string names;
  for (const std::string& name : subject.names) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) extend(made.get(), NID_subject_alt_name, names);
  CHECK(X509_set_issuer_name(made.get(), X509_get_subject_name(state_->certificate.get())) == 1);
  CHECK(X509_sign(made.get(), state_->key.get(), EVP_sha256()) > 0);
  return {.certificate_pem = pem_of(made.get()), .key_pem = pem_of(key.get())};
}

}  // namespace holdfast::test
