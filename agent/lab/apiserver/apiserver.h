// The lab's API server: enough of a kube-apiserver for kubectl, kubelets and our own daemons, on
// one SQLite file, with the few controllers that make it a control plane.
//
// It is an http::Handler; tests call it without a socket. Time passes for it only through tick().
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "agent/lab/apiserver/registry.h"
#include "agent/lab/apiserver/watch.h"
#include "platform/http/message.h"
#include "platform/random.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::agent::lab {

namespace asio = boost::asio;

// kube-apiserver's own limit of a request's body.
inline constexpr std::size_t body_bytes_max = 3UL << 20;

struct ApiServerOptions {
  std::filesystem::path data;              // a directory; made when it is missing
  std::string address = {};                // where clients reach us, for discovery
  std::optional<std::string> tokens = {};  // content of a token file; without one all may do all
  bool refuses_anonymous = false;          // with tokens: 401 for callers without credentials
  // Callers who are nodes have a real node's rights only, also where all others may do everything.
  // false: nodes may read everything, and all that they please where there are no tokens.
  bool node_authorizer = true;
  std::filesystem::path audit_log = {};         // empty: none is written
  bool controllers = true;                      // the built-in loops
  bool scheduler = true;                        // with them: pods of "default-scheduler" are placed
  std::optional<tls::Identity> authority = {};  // signs nodes' certificates; none: nobody does
  Duration certificate_lifetime = std::chrono::hours(24 * 365);
  RegistryLimits registry = {};
  WatchLimits watches = {};
  Duration compact_after = std::chrono::minutes(5);  // how long history is kept at least
  Duration event_lifetime = std::chrono::hours(1);
};

class ApiServer {
 public:
  // `clock` must outlive it. Makes the namespaces that every cluster has.
  // Errors: invalid (token file), unavailable, corrupt.
  [[nodiscard]] static Result<std::unique_ptr<ApiServer>> open(asio::any_io_executor executor,
                                                               const Clock& clock, Random random,
                                                               ApiServerOptions options);
  ~ApiServer();

  // Answers requests for as long as the server lives.
  [[nodiscard]] http::Handler handler();

  // What is due by now: bookmarks, timeouts of watches, compaction, expired events; and all that
  // the controllers have to do. Call it once a second or more often.
  void tick();

  // Runs tick() until it is cancelled; the controllers follow changes at once.
  asio::awaitable<void> run();

  // Ends all watches, so that their connections can close.
  void stop();

  // Forgets all history before the present: every older resourceVersion is expired.
  [[nodiscard]] Status compact_now();

  [[nodiscard]] Registry& registry();

 private:
  struct State;
  explicit ApiServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// An answer that the HTTP server gives by itself, as a Status.
[[nodiscard]] http::Response status_problem(int status, std::string_view message);

}  // namespace holdfast::agent::lab
