#include "platform/tls/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <ctime>
#include <set>

#include "platform/check.h"
#include "platform/text.h"
#include "platform/tls/digest.h"
#include "platform/tls/openssl.h"

namespace holdfast::tls {
namespace {

Result<WallTime> wall_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return refused("certificate's time");
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  // Certificates without an end have the year 9999, which 64-bit nanoseconds cannot represent.
  constexpr int last_year = 2261;
  if (day.year() > std::chrono::year(last_year)) return WallTime::max();
  return WallTime(std::chrono::sys_days(day)) + std::chrono::hours(parts.tm_hour) +
         std::chrono::minutes(parts.tm_min) + std::chrono::seconds(parts.tm_sec);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

bool is_plain(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool known = name.starts_with("DNS:") || name.starts_with("IP:");
    // OpenSSL parses the text as configuration: these characters would have a meaning in it.
    if (!known || name.find_first_of(",\n;@ ") != std::string::npos) return false;
  }
  return true;
}

Status add_alternatives(X509_REQ* request, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  X509_EXTENSION* extension =
      is_plain(names)
          ? X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, joined(names).c_str())
          : nullptr;
  if (extension == nullptr) return refused("name in " + joined(names));
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  sk_X509_EXTENSION_push(extensions, extension);
  const bool added = X509_REQ_add_extensions(request, extensions) == 1;
  sk_X509_EXTENSION_pop_free(extensions, &X509_EXTENSION_free);
  if (!added) return refused("names");
  return {};
}

// Makes "IP:fd00:0::1" and "IP:fd00::1" equal, and names that differ only in case.
std::string canonical_name(const std::string& name) {
  constexpr std::string_view address_prefix = "IP:";
  if (!name.starts_with(address_prefix)) return to_lower(name);
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(name.substr(address_prefix.size()), ec);
  return ec ? name : std::string(address_prefix) + address.to_string();
}

std::string public_key_digest(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
  if (size <= 0) return {};
  std::string digest =
      sha256_hex({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
  OPENSSL_free(bytes);
  return digest;
}

}  // namespace

bool covers(const Names& held, const Names& wanted) {
  std::set<std::string> have;
  for (const std::string& name : held.alternatives) have.insert(canonical_name(name));
  return std::all_of(
      wanted.alternatives.begin(), wanted.alternatives.end(),
      [&have](const std::string& name) { return have.contains(canonical_name(name)); });
}

std::string make_key_pem() {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), &EVP_PKEY_free);
  CHECK(key != nullptr);
  const Bio bio = bio_sink();
  CHECK(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                      nullptr) == 1);
  return text_of(bio);
}

Result<std::string> make_request_pem(std::string_view key_pem, const Names& names) {
  const Key key = read_key(key_pem);
  if (key == nullptr) return refused("private key");
  const RequestPtr request(X509_REQ_new(), &X509_REQ_free);
  CHECK(request != nullptr);
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  for (const std::string& organization : names.organizations) {
    if (!add_name(subject, "O", organization)) return refused(organization);
  }
  if (!add_name(subject, "CN", names.common_name)) return refused(names.common_name);
  if (auto added = add_alternatives(request.get(), names.alternatives); !added) {
    return fail(added.error());
  }
  if (X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) <= 0) {
    return refused("certificate request");
  }
  const Bio bio = bio_sink();
  CHECK(PEM_write_bio_X509_REQ(bio.get(), request.get()) == 1);
  return text_of(bio);
}

Result<Certificate> read_certificate(std::string_view pem) {
  const X509Ptr parsed = read_x509(pem);
  if (parsed == nullptr) return refused("certificate");
  Certificate made;
  const X509_NAME* subject = X509_get_subject_name(parsed.get());
  int at = -1;
  made.names.common_name = next_entry(subject, NID_commonName, at);
  at = -1;
  for (;;) {
    std::string organization = next_entry(subject, NID_organizationName, at);
    if (at < 0) break;
    made.names.organizations.push_back(std::move(organization));
  }
  made.names.alternatives = alternative_names(X509_get0_extensions(parsed.get()));
  TRY(made.not_before, wall_time(X509_get0_notBefore(parsed.get())));
  TRY(made.not_after, wall_time(X509_get0_notAfter(parsed.get())));
  made.public_key_sha256 = public_key_digest(parsed.get());
  return made;
}

Result<std::string> first_certificate(std::string_view pem) {
  const X509Ptr parsed = read_x509(pem);
  if (parsed == nullptr) return refused("certificate");
  return pem_of(parsed.get());
}

Status check_pair(const Identity& identity) {
  const X509Ptr certificate = read_x509(identity.certificate_pem);
  if (certificate == nullptr) return refused("certificate");
  const Key key = read_key(identity.key_pem);
  if (key == nullptr) return refused("private key");
  if (X509_check_private_key(certificate.get(), key.get()) == 1) return {};
  return refused("the private key is not the certificate's");
}

Status check_signed_by(std::string_view certificate_pem, std::string_view ca_pem) {
  const X509Ptr certificate = read_x509(certificate_pem);
  if (certificate == nullptr) return refused("certificate");
  const Bio bio = bio_of(ca_pem);
  for (;;) {
    const X509Ptr authority(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
    if (authority == nullptr) break;
    EVP_PKEY* key = X509_get0_pubkey(authority.get());
    if (key != nullptr && X509_verify(certificate.get(), key) == 1) {
      (void)openssl_reason();  // Clears the errors of authorities that did not match.
      return {};
    }
  }
  (void)openssl_reason();
  return fail(Errc::invalid, "none of the given authorities has signed the certificate");
}

}  // namespace holdfast::tls
