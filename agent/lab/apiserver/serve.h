// Runs the lab's API server as a process: opens its files and its listener, serves, and stops.

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
  std::string listen = "127.0.0.1:7443";  // address:port; port 0 picks a free one
  std::string data;                       // directory of the database
  std::string tls_dir;                    // see tls_dir.h; empty: plain HTTP
  // Lines of token,user,uid,"groups". Without this file every caller may do everything, and only
  // loopback addresses are allowed.
  std::string token_file;
  std::string audit_log_path = {};  // one line per request is appended; empty: none
  bool node_authorizer = true;      // as ApiServerOptions has it
  bool controllers = true;
  bool scheduler = true;                                         // with `controllers` only
  Duration certificate_lifetime = std::chrono::hours(24 * 365);  // of signed certificates
};

// Adds the flags of `holdfast-lab apiserver`. They set the fields of `settings`, which outlives
// `options`.
void add_serve_options(config::Options& options, ServeSettings& settings);

// Checks that callers from other machines are not authorized to do everything. Errors: invalid if
// there is no token file and the address is not loopback. Of all names only "localhost" counts as
// loopback.
[[nodiscard]] Status check_listener(const net::HostPort& at, bool has_tokens);

// Serves by `clock` until `stop` is requested. Logs "apiserver listening" with the address once it
// listens. Errors: those of check_listener(), the files, the listener and the store.
[[nodiscard]] boost::asio::awaitable<Status> serve(ServeSettings settings, loop::Stop& stop,
                                                   const Clock& clock);

}  // namespace holdfast::agent::lab
