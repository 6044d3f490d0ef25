// Runs the lab's API server as a process: its files, its listener, its end.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "platform/config/options.h"
#include "platform/loop/program.h"
#include "platform/net/transport.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

struct ServeSettings {
  std::string listen = "127.0.0.1:7443";  // address:port; port 0 takes a free one
  std::string data;                       // directory of the database
  std::string tls_dir;                    // see tls_dir.h; empty: plain HTTP
  // token,user,uid,"groups". Without one everybody may do everything, and only loopback addresses
  // are served.
  std::string token_file;
  std::string audit_log_path = {};  // a line for every request is added to it; empty: none
  bool node_authorizer = true;      // as ApiServerOptions has it
  bool controllers = true;
  bool scheduler = true;                                         // one of the controllers
  Duration certificate_lifetime = std::chrono::hours(24 * 365);  // of those that are signed
};

// Adds the flags of `holdfast-lab apiserver`, which are bound to the fields of `settings`.
// `settings` must outlive `options`.
void add_serve_options(config::Options& options, ServeSettings& settings);

// Errors: invalid, when others than the users of this machine could do everything: an address that
// is not loopback (a name other than "localhost" is not) without a token file.
[[nodiscard]] Status check_listener(const net::HostPort& at, bool has_tokens);

// Serves until `stop` is requested. Prints "listening on ADDRESS" to the log once it does.
// Errors: check_listener(), those of the files, the listener and the store.
[[nodiscard]] boost::asio::awaitable<Status> serve(ServeSettings settings, loop::Stop& stop);

}  // namespace holdfast::agent::lab
