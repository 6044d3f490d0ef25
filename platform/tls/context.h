// TLS settings, created from PEM text and shared by many connections. TLS 1.2 or newer.
//
// A context is immutable except for renew(). Any thread may hold it.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"

namespace boost::asio::ssl {
class context;
}

namespace holdfast::tls {

// Returns the time at which peers' certificates are verified; if empty, the system's clock is used.
// For machines whose clock may be known to be wrong.
using Now = std::function<WallTime()>;

// PEM text, not file names.
struct Identity {
  std::string certificate_pem;  // leaf first, then intermediates
  std::string key_pem;
};

struct ClientSettings {
  std::string ca_pem;            // empty: the system's roots
  Identity identity;             // empty: no client certificate
  bool insecure = false;         // accept any server certificate
  std::string server_name = {};  // that its certificate must have; empty: the connection's host
  Now now = {};
  bool system_roots_too = false;  // besides `ca_pem`
};

struct ServerSettings {
  Identity identity;
  std::string client_ca_pem;  // empty: clients are not asked for a certificate
  bool client_required = false;
  // The supported protocols in order of preference: "h2", "http/1.1". A client that offers none of
  // them is served as one that offers nothing. If empty, the client's offer is ignored.
  std::vector<std::string> protocols = {};
  Now now = {};
};

class Context {
 public:
  // Errors: invalid, naming the part that OpenSSL refused and why.
  [[nodiscard]] static Result<std::shared_ptr<const Context>> for_client(
      const ClientSettings& settings);
  [[nodiscard]] static Result<std::shared_ptr<const Context>> for_server(
      const ServerSettings& settings);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Presents `identity` from the next handshake on. No other thread may use the context during the
  // call. Errors: invalid; then nothing has changed.
  [[nodiscard]] Status renew(const Identity& identity) const;

  [[nodiscard]] bool verifies_peer() const { return verifies_peer_; }
  [[nodiscard]] const std::string& server_name() const { return server_name_; }
  // For platform/net only.
  [[nodiscard]] boost::asio::ssl::context& native() const { return *native_; }

 private:
  Context();
  std::unique_ptr<boost::asio::ssl::context> native_;
  void set_verification_clock(Now now);
  bool verifies_peer_ = true;
  std::string server_name_;
  std::string protocols_;  // in the format of protocol_list(); used by OpenSSL's callback
  Now now_;
};

}  // namespace holdfast::tls
