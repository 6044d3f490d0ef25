#include "platform/tls/signer.h"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>

#include "platform/check.h"
#include "platform/tls/openssl.h"

namespace holdfast::tls {
namespace {

// Clamped to time_t, which ends in 2038 on 32-bit machines.
std::time_t seconds_of(WallTime time) {
  using Limits = std::numeric_limits<std::time_t>;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return static_cast<std::time_t>(std::clamp<std::int64_t>(seconds, Limits::min(), Limits::max()));
}

Result<RequestPtr> parse_request(std::string_view pem) {
  const Bio bio = bio_of(pem);
  RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr), &X509_REQ_free);
  if (request == nullptr) return refused("certificate request");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr || X509_REQ_verify(request.get(), key) != 1) {
    return refused("certificate request: not signed with its own key");
  }
  return request;
}

void extend(X509* certificate, int nid, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  CHECK(extension != nullptr);
  CHECK(X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// A certificate without names and extensions: version, serial number, validity and public key.
X509Ptr begin(EVP_PKEY* key, const Grant& grant) {
  X509Ptr made(X509_new(), &X509_free);
  CHECK(made != nullptr);
  X509* certificate = made.get();
  CHECK(X509_set_version(certificate, X509_VERSION_3) == 1);
  std::array<unsigned char, 16> serial{};
  CHECK(RAND_bytes(serial.data(), serial.size()) == 1);
  serial.front() &= 0x7f;  // The serial number is signed and must not be negative.
  const std::unique_ptr<BIGNUM, void (*)(BIGNUM*)> number(
      BN_bin2bn(serial.data(), serial.size(), nullptr), &BN_free);
  CHECK(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr);
  CHECK(ASN1_TIME_set(X509_getm_notBefore(certificate), seconds_of(grant.not_before)) != nullptr);
  CHECK(ASN1_TIME_set(X509_getm_notAfter(certificate), seconds_of(grant.not_after)) != nullptr);
  CHECK(X509_set_pubkey(certificate, key) == 1);
  return made;
}

void add_leaf_uses(X509* certificate, const Grant& grant) {
  extend(certificate, NID_basic_constraints, "critical,CA:FALSE");
  extend(certificate, NID_key_usage, "critical,digitalSignature");
  std::string uses;
  if (grant.for_client) uses += "clientAuth";
  if (grant.for_server) uses += uses.empty() ? "serverAuth" : ",serverAuth";
  if (!uses.empty()) extend(certificate, NID_ext_key_usage, uses.c_str());
}

// A certificate with the subject and the alternative names of the request.
X509Ptr leaf_of(X509_REQ* request, const Grant& grant) {
  X509Ptr made = begin(X509_REQ_get0_pubkey(request), grant);
  CHECK(X509_set_subject_name(made.get(), X509_REQ_get_subject_name(request)) == 1);
  add_leaf_uses(made.get(), grant);
  STACK_OF(X509_EXTENSION)* asked = X509_REQ_get_extensions(request);
  const int at = X509v3_get_ext_by_NID(asked, NID_subject_alt_name, -1);
  if (at >= 0) CHECK(X509_add_ext(made.get(), X509v3_get_ext(asked, at), -1) == 1);
  sk_X509_EXTENSION_pop_free(asked, &X509_EXTENSION_free);
  return made;
}

}  // namespace

struct Signer::State {
  X509Ptr certificate;
  Key key;
  std::string pem;
};

Signer::Signer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Signer::Signer(Signer&&) noexcept = default;
Signer& Signer::operator=(Signer&&) noexcept = default;
Signer::~Signer() = default;

Result<Signer> Signer::make(const Identity& authority) {
  if (auto pair = check_pair(authority); !pair) return fail("authority", pair.error());
  X509Ptr certificate = read_x509(authority.certificate_pem);
  if (X509_check_ca(certificate.get()) == 0) {
    return fail(Errc::invalid, "authority: its certificate is not a CA certificate");
  }
  return Signer(std::unique_ptr<State>(
      new State{std::move(certificate), read_key(authority.key_pem), authority.certificate_pem}));
}

Identity Signer::make_authority(const std::string& common_name, WallTime not_before,
                                WallTime not_after) {
  Identity made{.certificate_pem = {}, .key_pem = make_key_pem()};
  const Key key = read_key(made.key_pem);
  const X509Ptr certificate = begin(key.get(), {.not_before = not_before, .not_after = not_after});
  X509_NAME* name = X509_get_subject_name(certificate.get());
  CHECK(add_name(name, "CN", common_name));
  CHECK(X509_set_issuer_name(certificate.get(), name) == 1);
  extend(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(certificate.get(), NID_key_usage, "critical,digitalSignature,keyCertSign");
  CHECK(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  made.certificate_pem = pem_of(certificate.get());
  return made;
}

const std::string& Signer::authority_pem() const { return state_->pem; }

Result<std::string> Signer::sign(std::string_view request_pem, const Grant& grant) const {
  TRY(const RequestPtr request, parse_request(request_pem));
  TRY(const Certificate own, read_certificate(state_->pem));
  Grant granted = grant;
  granted.not_after = std::min(grant.not_after, own.not_after);
  const X509Ptr made = leaf_of(request.get(), granted);
  CHECK(X509_set_issuer_name(made.get(), X509_get_subject_name(state_->certificate.get())) == 1);
  if (X509_sign(made.get(), state_->key.get(), EVP_sha256()) <= 0) return refused("sign");
  return pem_of(made.get());
}

Result<Names> read_request(std::string_view request_pem) {
  TRY(const RequestPtr request, parse_request(request_pem));
  Names names;
  const X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  int at = -1;
  names.common_name = next_entry(subject, NID_commonName, at);
  at = -1;
  for (;;) {
    std::string organization = next_entry(subject, NID_organizationName, at);
    if (at < 0) break;
    names.organizations.push_back(std::move(organization));
  }
  STACK_OF(X509_EXTENSION)* asked = X509_REQ_get_extensions(request.get());
  names.alternatives = alternative_names(asked);
  sk_X509_EXTENSION_pop_free(asked, &X509_EXTENSION_free);
  return names;
}

Result<Identity> make_self_signed(const Names& names, const Grant& grant) {
  Identity made{.certificate_pem = {}, .key_pem = make_key_pem()};
  TRY(const std::string request_pem, make_request_pem(made.key_pem, names));
  TRY(const RequestPtr request, parse_request(request_pem));
  const X509Ptr certificate = leaf_of(request.get(), grant);
  const Key key = read_key(made.key_pem);
  CHECK(X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1);
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) <= 0) return refused("sign");
  made.certificate_pem = pem_of(certificate.get());
  return made;
}

}  // namespace holdfast::tls
