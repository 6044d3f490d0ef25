// The part of the kubelet's API that `kubectl logs`, `exec` and `port-forward` need, as a server.
//
// It serves TLS. A caller without a certificate of the kubelet's client authority does not get past
// the handshake, and one whose certificate is not the API server's (see is_api_server()) gets 403.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/node/kubelet/container_choice.h"
#include "agent/node/runtime.h"
#include "platform/http/server.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"

namespace holdfast::agent::node {

// The common name of the certificate that API servers present to kubelets.
inline constexpr std::string_view api_server_name = "kube-apiserver-kubelet-client";

// Whether the caller's certificate is that of an API server, or of an administrator
// (system:masters).
[[nodiscard]] bool is_api_server(const net::Peer& peer);

struct KubeletLimits {
  std::size_t connections = 64;             // from all callers together
  std::size_t tunnels = 32;                 // of them exec and port-forward
  Duration send = std::chrono::minutes(2);  // for one piece of a log
};

struct KubeletSettings {
  std::string node_name;
  net::HostPort listen;       // port 0 picks a free one
  std::string client_ca_pem;  // the authority of the API server's certificate
  tls::Identity identity;     // empty: a self-signed certificate is made
  KubeletLimits limits = {};
};

// What the API shows. All outlive it.
struct KubeletParts {
  // The pod of that name; null if there is none. Valid until control returns to the loop.
  std::function<const sync::Pod*(std::string_view name_space, std::string_view name)> pod;
  const Runtime& runtime;
};

class KubeletApi {
 public:
  // Listens, but serves only after start(). Errors: invalid (a certificate, the address),
  // unavailable (the port is in use), denied.
  [[nodiscard]] static Result<std::unique_ptr<KubeletApi>> open(asio::any_io_executor executor,
                                                                KubeletSettings settings);
  ~KubeletApi();

  // Serves. Call it once.
  void start(KubeletParts parts);
  // Ends all logs and sessions.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] std::uint16_t port() const;

 private:
  struct State;
  explicit KubeletApi(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::agent::node
