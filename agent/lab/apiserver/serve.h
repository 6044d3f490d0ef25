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
  // Lines of token,user,uid,"groups". Without this file every caller on loopback may do everything,
  // and other addresses need tls_dir: then certificates tell who callers are.
  std::string token_file;
  std::string kubeconfig = {};      // file to write; see serve_kubeconfig.h; empty: none
  std::string audit_log_path = {};  // one line per request is appended; empty: none
  // What kubelets are shown (PEM files); empty: a certificate that is made in `data`, see
  // kubelet_dir.h.
  std::string kubelet_client_certificate = {};
  std::string kubelet_client_key = {};
  std::string kubelet_certificate_authority = {};  // verifies kubelets; empty: they are not
  bool durable = false;                            // as RegistryLimits has it
  bool node_authorizer = true;                     // as ApiServerOptions has it
  bool rbac = false;                               // as ApiServerOptions has it
  bool controllers = true;
  bool scheduler = true;                                         // with `controllers` only
  Duration certificate_lifetime = std::chrono::hours(24 * 365);  // of signed certificates
};

// Adds the flags of `holdfast-lab apiserver`. They set the fields of `settings`, which outlives
// `options`.
void add_serve_options(config::Options& options, ServeSettings& settings);

// Checks that callers from other machines are known. Errors: invalid if the address is not loopback
// and neither a token file nor client certificates (--tls-dir) tell who they are, or if --rbac is
// set without either. Of all names only "localhost" counts as loopback.
[[nodiscard]] Status check_listener(const net::HostPort& at, const ServeSettings& settings);

// Serves by `clock` until `stop` is requested. Logs "apiserver listening" with the address once it
// listens. Errors: those of check_listener(), the files, the listener and the store.
[[nodiscard]] boost::asio::awaitable<Status> serve(ServeSettings settings, loop::Stop& stop,
                                                   const Clock& clock);

}  // namespace holdfast::agent::lab
