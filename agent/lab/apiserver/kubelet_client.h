// Sends requests for logs, exec and port-forward to the kubelets of nodes, and passes on what they
// answer.
//
// Credentials of the caller are never passed on: the API server has checked them, and presents its
// own certificate. As upstream, the kubelet's certificate is verified only if there is an authority
// for it.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/rules/pod_connect.h"
#include "platform/tls/context.h"

namespace holdfast::agent::lab {

namespace asio = boost::asio;

struct KubeletAccess {
  tls::Identity identity;   // the client certificate
  std::string ca_pem = {};  // what kubelets are verified by; "": any certificate
};

struct KubeletClientLimits {
  std::size_t streams_per_node = 32;          // logs, exec and port-forward at a time
  Duration answer = std::chrono::seconds(8);  // until the head of the answer has arrived
  // While a log is followed, a node that cannot be reached twice in this interval has failed.
  Duration probe = std::chrono::seconds(15);
};

class KubeletClient {
 public:
  // Errors: invalid (the certificate).
  [[nodiscard]] static Result<std::unique_ptr<KubeletClient>> make(
      const KubeletAccess& access, const KubeletClientLimits& limits = {});

  // Sends `to` with the method and, for an upgrade, the protocol headers of `from`, which outlives
  // the call. Returns the log or the tunnel, or for an upgrade the kubelet's refusal as it is.
  // Refusals: 502 (not reachable, or broken off), 504 (no answer in time), 429 (too many streams of
  // the node), and what upstream makes of a kubelet's refusal of a log.
  asio::awaitable<Reply> ask(const http::Request& from, NodeRequest to);

 private:
  KubeletClient(std::shared_ptr<const tls::Context> tls, const KubeletClientLimits& limits);

  std::shared_ptr<const tls::Context> tls_;
  KubeletClientLimits limits_;
  std::shared_ptr<std::map<std::string, std::size_t>> streams_;  // open ones, by node
};

// GET log, exec and portforward of a pod: checks the request and sets *call.onward.
[[nodiscard]] Reply connect_pod(Backend& backend, const Call& call);

}  // namespace holdfast::agent::lab
