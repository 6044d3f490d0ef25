// TLS settings, made once from PEM text and shared by many connections. TLS 1.2 or newer.
//
// A context is immutable; new certificates make a new one. Any thread may hold it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/result.h"

namespace boost::asio::ssl {
class context;
}

namespace holdfast::tls {

// PEM text, not file names.
struct Identity {
  std::string certificate_pem;  // leaf first, then intermediates
  std::string key_pem;
};

struct ClientSettings {
  std::string ca_pem;            // empty: the system's roots
  Identity identity;             // empty: no client certificate
  bool insecure = false;         // accept any server certificate
  std::string server_name = {};  // that its certificate must have; empty: the host we connect to
};

struct ServerSettings {
  Identity identity;
  std::string client_ca_pem;  // empty: clients are not asked for a certificate
  bool client_required = false;
  // What is spoken here, the liked ones first: "h2", "http/1.1". A client that offers none of them
  // is taken as one that offers nothing. Empty: whatever the client offers is ignored.
  std::vector<std::string> protocols = {};
};

class Context {
 public:
  // Errors: invalid, naming which part OpenSSL refused and why.
  [[nodiscard]] static Result<std::shared_ptr<const Context>> for_client(
      const ClientSettings& settings);
  [[nodiscard]] static Result<std::shared_ptr<const Context>> for_server(
      const ServerSettings& settings);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] bool verifies_peer() const { return verifies_peer_; }
  [[nodiscard]] const std::string& server_name() const { return server_name_; }
  // For platform/net only.
  [[nodiscard]] boost::asio::ssl::context& native() const { return *native_; }

 private:
  Context();
  std::unique_ptr<boost::asio::ssl::context> native_;
  bool verifies_peer_ = true;
  std::string server_name_;
  std::string protocols_;  // as protocol_list() writes them; OpenSSL's callback refers to it
};

}  // namespace holdfast::tls
