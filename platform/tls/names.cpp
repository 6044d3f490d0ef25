#include "platform/tls/names.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

#include "platform/check.h"

namespace holdfast::tls {
namespace {

std::string entry_text(X509_NAME* name, int at) {
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, value);
  if (length < 0) return {};
  std::string text(utf8, utf8 + length);
  OPENSSL_free(utf8);
  return text;
}

// Returns what `write` makes the session send. The session's write BIO belongs to the coroutine
// that reads and writes, so a memory BIO takes its place meanwhile.
template <class Write>
std::string captured(ssl_st* session, const Write& write) {
  BIO* usual = SSL_get_wbio(session);
  BIO* aside = BIO_new(BIO_s_mem());
  if (usual == nullptr || aside == nullptr || BIO_up_ref(usual) != 1) {
    BIO_free(aside);
    return {};
  }
  SSL_set0_wbio(session, aside);
  write();
  const char* bytes = nullptr;
  const long size = BIO_get_mem_data(aside, &bytes);
  std::string sent(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
  SSL_set0_wbio(session, usual);
  return sent;
}

}  // namespace

void read_peer_names(ssl_st* session, std::string& common_name,
                     std::vector<std::string>& organizations) {
  const std::unique_ptr<X509, void (*)(X509*)> certificate(SSL_get1_peer_certificate(session),
                                                           &X509_free);
  if (certificate == nullptr) return;
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) common_name = entry_text(subject, at);
  at = -1;
  while ((at = X509_NAME_get_index_by_NID(subject, NID_organizationName, at)) >= 0) {
    organizations.push_back(entry_text(subject, at));
  }
}

void set_server_name(ssl_st* session, const std::string& host) {
  // Same as the macro SSL_set_tlsext_host_name; OpenSSL copies the text.
  SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           const_cast<char*>(host.c_str()));
}

std::string protocol_list(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) {
    CHECK(!name.empty() && name.size() <= 255);
    list += static_cast<char>(name.size());
    list += name;
  }
  return list;
}

void offer_protocols(ssl_st* session, std::span<const std::string_view> names) {
  const std::string list = protocol_list(names);
  SSL_set_alpn_protos(session, reinterpret_cast<const unsigned char*>(list.data()),
                      static_cast<unsigned int>(list.size()));
}

std::string agreed_protocol(const ssl_st* session) {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(session, &name, &size);
  return std::string(name, name + size);
}

bool has_unread(ssl_st* session) {
  char peeked = 0;
  ERR_clear_error();
  const int count = SSL_peek(session, &peeked, 1);
  // Everything but SSL_ERROR_WANT_READ is something unread: bytes, close_notify, or a broken
  // record.
  const bool unread = SSL_get_error(session, count) != SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return unread;
}

std::string take_close_notify(ssl_st* session) {
  if (SSL_is_init_finished(session) == 0 || SSL_get_shutdown(session) != 0) return {};
  return captured(session, [session] { (void)SSL_shutdown(session); });
}

std::string seal_now(ssl_st* session, std::string_view bytes) {
  if (bytes.empty() || SSL_is_init_finished(session) == 0) return {};
  return captured(session, [session, bytes] {
    ERR_clear_error();
    (void)SSL_write(session, bytes.data(), static_cast<int>(bytes.size()));
    ERR_clear_error();
  });
}

}  // namespace holdfast::tls
