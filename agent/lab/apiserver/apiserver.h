// The lab's API server: enough of a kube-apiserver for kubectl, kubelets and Holdfast's own
// programs, stored in one SQLite file, with the few controllers that make it a control plane.
// It is used through an http::Handler, so tests call it without a socket. Everything that depends
// on time happens in tick().
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "agent/lab/apiserver/kubelet_client.h"
#include "agent/lab/apiserver/registry.h"
#include "agent/lab/apiserver/watch.h"
#include "platform/http/message.h"
#include "platform/random.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::agent::lab {

namespace asio = boost::asio;

// kube-apiserver's limit for the body of a request.
inline constexpr std::size_t body_bytes_max = 3UL << 20;

struct ApiServerOptions {
  std::filesystem::path data;              // a directory; created if it is missing
  std::string address = {};                // "host:port" of the server, for discovery
  std::optional<std::string> tokens = {};  // content of a token file; none: no authorization
  bool refuses_anonymous = false;          // 401 instead of 403 for callers without credentials
  // Whether callers need rights although there are no tokens, because certificates identify them.
  bool requires_identity = false;
  bool rbac = false;  // roles and bindings decide; the default ones are created
  // Whether callers that are nodes are limited to the rights of a real node, even if there are no
  // tokens and all other callers may do everything. false: nodes may read everything, and do
  // everything if there are no tokens.
  bool node_authorizer = true;
  std::filesystem::path audit_log = {};  // empty: no audit log
  bool controllers = true;               // run the built-in controllers
  bool scheduler = true;                 // with `controllers`: place pods of "default-scheduler"
  std::optional<tls::Identity> authority = {};  // signs nodes' certificates; none: not signed
  // How kubelets are asked for logs and the like; none: they are not.
  std::optional<KubeletAccess> kubelets = {};
  std::string ca_pem = {};  // published in every namespace as kube-root-ca.crt; "": not
  Duration certificate_lifetime = std::chrono::hours(24 * 365);
  RegistryLimits registry = {};
  WatchLimits watches = {};
  Duration compact_after = std::chrono::minutes(5);  // history is kept at least this long
  Duration event_lifetime = std::chrono::hours(1);
};

class ApiServer {
 public:
  // Opens or creates the database and creates the namespaces that every cluster has. `clock` is
  // borrowed and outlives the server. Errors: invalid (token file), unavailable, corrupt, and those
  // of the audit log.
  [[nodiscard]] static Result<std::unique_ptr<ApiServer>> open(asio::any_io_executor executor,
                                                               const Clock& clock, Random random,
                                                               ApiServerOptions options);
  ~ApiServer();

  // Answers requests. It must not be called after the server is destroyed.
  [[nodiscard]] http::Handler handler();

  // Does everything that is due: bookmarks, timeouts of watches, compaction, expiry of Events, and
  // the work of the controllers. Call it at least once a second.
  void tick();

  // Calls tick() until cancelled: every second, and soon after changes for the controllers.
  asio::awaitable<void> run();

  // Ends all watches, so that their connections can close.
  void stop();

  // Compacts all history: every resourceVersion before the current one has expired.
  [[nodiscard]] Status compact_now();

  [[nodiscard]] Registry& registry();

 private:
  struct State;
  explicit ApiServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// The body for errors that the HTTP server detects itself, as a Kubernetes Status.
[[nodiscard]] http::Response reply_problem(int status, std::string_view message);

}  // namespace holdfast::agent::lab
