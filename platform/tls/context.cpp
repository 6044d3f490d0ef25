#include "platform/tls/context.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <ctime>

#include "platform/tls/names.h"

namespace holdfast::tls {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

Status checked(const boost::system::error_code& ec, const std::string& part) {
  if (!ec) return {};
  return fail(Errc::invalid, part + ": " + ec.message(), ec);
}

Status use_identity(ssl::context& context, const Identity& identity) {
  boost::system::error_code ec;
  context.use_certificate_chain(asio::buffer(identity.certificate_pem), ec);
  if (ec) return checked(ec, "certificate");
  context.use_private_key(asio::buffer(identity.key_pem), ssl::context::pem, ec);
  if (ec) return checked(ec, "private key");
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return fail(Errc::invalid, "private key: does not belong to the certificate");
  }
  return {};
}

Status use_authority(ssl::context& context, const std::string& pem) {
  boost::system::error_code ec;
  context.add_certificate_authority(asio::buffer(pem), ec);
  return checked(ec, "certificate authority");
}

// OpenSSL's ALPN callback. `argument` is the server's protocol list.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void* argument) {
  const auto& ours = *static_cast<const std::string*>(argument);
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(
      &found, chosen_size, reinterpret_cast<const unsigned char*>(ours.data()),
      static_cast<unsigned int>(ours.size()), offered, offered_size);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL's own verification, but at the time that `now` returns.
int verify_at(X509_STORE_CTX* verification, void* now) {
  const auto time = (*static_cast<const Now*>(now))();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  X509_STORE_CTX_set_time(verification, 0, static_cast<std::time_t>(seconds));
  return X509_verify_cert(verification);
}

}  // namespace

Context::Context() : native_(std::make_unique<ssl::context>(ssl::context::tls)) {
  SSL_CTX_set_min_proto_version(native_->native_handle(), TLS1_2_VERSION);
  // Edge machines hold many idle connections: free their record buffers between reads.
  SSL_CTX_set_mode(native_->native_handle(), SSL_MODE_RELEASE_BUFFERS);
}

Context::~Context() = default;

void Context::set_verification_clock(Now now) {
  now_ = std::move(now);
  if (now_) SSL_CTX_set_cert_verify_callback(native_->native_handle(), &verify_at, &now_);
}

Result<std::shared_ptr<const Context>> Context::for_client(const ClientSettings& settings) {
  const std::shared_ptr<Context> made(new Context);
  made->set_verification_clock(settings.now);
  made->verifies_peer_ = !settings.insecure;
  made->server_name_ = settings.server_name;
  boost::system::error_code ec;
  made->native_->set_verify_mode(settings.insecure ? ssl::verify_none : ssl::verify_peer, ec);
  if (settings.ca_pem.empty() || settings.system_roots_too) {
    made->native_->set_default_verify_paths(ec);
  }
  if (settings.ca_pem.empty()) {
    // Only the system's roots are trusted.
  } else if (auto used = use_authority(*made->native_, settings.ca_pem); !used) {
    return fail(used.error());
  }
  if (!settings.identity.certificate_pem.empty()) {
    if (auto used = use_identity(*made->native_, settings.identity); !used) {
      return fail("client", used.error());
    }
  }
  return std::shared_ptr<const Context>(made);
}

Result<std::shared_ptr<const Context>> Context::for_server(const ServerSettings& settings) {
  const std::shared_ptr<Context> made(new Context);
  if (auto used = use_identity(*made->native_, settings.identity); !used) {
    return fail("server", used.error());
  }
  if (!settings.protocols.empty()) {
    const std::vector<std::string_view> names(settings.protocols.begin(), settings.protocols.end());
    made->protocols_ = protocol_list(names);
    SSL_CTX_set_alpn_select_cb(made->native_->native_handle(), choose_protocol, &made->protocols_);
  }
  made->verifies_peer_ = !settings.client_ca_pem.empty();
  if (!made->verifies_peer_) return std::shared_ptr<const Context>(made);
  if (auto used = use_authority(*made->native_, settings.client_ca_pem); !used) {
    return fail("client", used.error());
  }
  made->set_verification_clock(settings.now);
  boost::system::error_code ec;
  const int required = settings.client_required ? ssl::verify_fail_if_no_peer_cert : 0;
  made->native_->set_verify_mode(ssl::verify_peer | required, ec);
  // Without its own id context, a session ticket of another server could be resumed and would skip
  // the client certificate.
  constexpr std::string_view id = "holdfast";
  SSL_CTX_set_session_id_context(made->native_->native_handle(),
                                 reinterpret_cast<const unsigned char*>(id.data()), id.size());
  return std::shared_ptr<const Context>(made);
}

Status Context::renew(const Identity& identity) const {
  ssl::context trial(ssl::context::tls);
  if (auto good = use_identity(trial, identity); !good) return good;
  return use_identity(*native_, identity);
}

}  // namespace holdfast::tls
