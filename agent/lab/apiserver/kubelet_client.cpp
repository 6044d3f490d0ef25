#include "agent/lab/apiserver/kubelet_client.h"

#include <boost/asio/this_coro.hpp>

#include "agent/lab/apiserver/nodes.h"
#include "platform/http/client.h"
#include "platform/http/hops.h"
#include "platform/loop/clock.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/net/wrapped_connection.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

using StreamCounts = std::map<std::string, std::size_t>;

constexpr std::size_t refusal_bytes_max = 64UL * 1024;

// Counts a stream of a node while it exists.
class StreamOfNode {
 public:
  StreamOfNode(std::shared_ptr<StreamCounts> counts, std::string node)
      : counts_(std::move(counts)), node_(std::move(node)) {
    ++(*counts_)[node_];
  }
  ~StreamOfNode() {
    const auto found = counts_->find(node_);
    if (--found->second == 0) counts_->erase(found);
  }
  StreamOfNode(const StreamOfNode&) = delete;
  StreamOfNode& operator=(const StreamOfNode&) = delete;

 private:
  std::shared_ptr<StreamCounts> counts_;
  std::string node_;
};

using StreamOfNodePtr = std::shared_ptr<StreamOfNode>;

class NodeTunnel final : public net::WrappedConnection {
 public:
  NodeTunnel(std::shared_ptr<net::Connection> inner, StreamOfNodePtr counted)
      : WrappedConnection(std::move(inner)), counted_(std::move(counted)) {}

 private:
  StreamOfNodePtr counted_;
};

// Ends the stream when the node cannot be reached any more.
asio::awaitable<void> probe_node(http::Endpoint node, KubeletClientLimits limits,
                                 std::shared_ptr<http::BodyStream> stream) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  for (int failures = 0; failures < 2;) {
    co_await loop::sleep_until(clock.mono() + limits.probe / 2);
    const MonoTime deadline = clock.mono() + limits.answer;
    const auto reached = co_await net::connect(node.at, node.tls, deadline);
    failures = reached ? 0 : failures + 1;
  }
  stream->cancel();
}

// A log; if it is followed, the node is probed.
class NodeLog final : public http::BodyStream {
 public:
  NodeLog(const asio::any_io_executor& executor, std::shared_ptr<http::BodyStream> inner,
          StreamOfNodePtr counted)
      : inner_(std::move(inner)), counted_(std::move(counted)), tasks_(executor) {}

  void probe(http::Endpoint node, const KubeletClientLimits& limits) {
    tasks_.spawn("probe node", probe_node(std::move(node), limits, inner_));
  }

  asio::awaitable<Result<std::string>> next() override { return inner_->next(); }
  void cancel() override {
    tasks_.cancel();
    inner_->cancel();
  }

 private:
  std::shared_ptr<http::BodyStream> inner_;
  StreamOfNodePtr counted_;
  loop::Tasks tasks_;
};

// Browsers hide a caller's token among the protocols.
std::string protocols_without_tokens(std::string_view value) {
  std::vector<std::string> kept;
  for (const std::string_view each : split(value, ',')) {
    const std::string_view protocol = trim(each);
    if (!protocol.starts_with("base64url.bearer.authorization.k8s.io."))
      kept.emplace_back(protocol);
  }
  return join(kept, ", ");
}

http::Request request_to_node(const http::Request& from, const NodeRequest& to) {
  http::Request made{.method = from.method, .target = to.target};
  if (to.is_log) return made;
  for (const http::Header& header : from.headers) {
    const std::string name = to_lower(header.name);
    const bool passed = name == "connection" || name == "upgrade" ||
                        name.starts_with("sec-websocket-") || name == "x-stream-protocol-version";
    if (!passed) continue;
    made.headers.add(header.name, name == "sec-websocket-protocol"
                                      ? protocols_without_tokens(header.value)
                                      : header.value);
  }
  return made;
}

sync::wire::ApiStatus unreachable(const NodeRequest& to, const Error& error, Duration limit) {
  const std::string where =
      "node " + to.node + " at " + net::HostPort{to.host, to.port}.text() + ": ";
  if (error.code == Errc::timeout) {
    sync::wire::ApiStatus status = sync::wire::status::timeout("", 0);
    status.message = "error dialing backend: " + where + "no answer within " +
                     format_duration(limit) + "; is its link cut?";
    return status;
  }
  sync::wire::ApiStatus status =
      sync::wire::status::unexplained("error dialing backend: " + where + error.what);
  status.code = 502;
  return status;
}

// As upstream converts a kubelet's refusal of a log.
sync::wire::ApiStatus refused_log(const NodeRequest& to, const http::Response& response) {
  const std::string text(trim(response.body));
  if (response.status == 400) return sync::wire::status::bad_request(text);
  if (response.status == 500) return sync::wire::status::internal_error(text);
  sync::wire::ApiStatus status = sync::wire::status::generic(response.status);
  status.message = text;
  status.details = sync::wire::StatusDetails{.name = to.pod, .kind = "pods/log"};
  return status;
}

// The kubelet's answer for the caller: its stream is counted and, with `probed`, its node probed.
http::Response pass_on(http::Response answer, const asio::any_io_executor& executor,
                       StreamOfNodePtr counted, const http::Endpoint& node,
                       const KubeletClientLimits* probed) {
  http::drop_hop_by_hop(answer.headers, answer.status == 101);
  if (answer.stream) {
    auto log = std::make_shared<NodeLog>(executor, std::move(answer.stream), std::move(counted));
    if (probed != nullptr) log->probe(node, *probed);
    answer.stream = std::move(log);
  } else if (answer.tunnel) {
    answer.tunnel = std::make_shared<NodeTunnel>(std::move(answer.tunnel), std::move(counted));
  }
  return answer;
}

}  // namespace

Result<std::unique_ptr<KubeletClient>> KubeletClient::make(const KubeletAccess& access,
                                                           const KubeletClientLimits& limits) {
  TRY(auto tls, tls::Context::for_client({.ca_pem = access.ca_pem,
                                          .identity = access.identity,
                                          .insecure = access.ca_pem.empty()}));
  return std::unique_ptr<KubeletClient>(new KubeletClient(std::move(tls), limits));
}

KubeletClient::KubeletClient(std::shared_ptr<const tls::Context> tls,
                             const KubeletClientLimits& limits)
    : tls_(std::move(tls)), limits_(limits), streams_(std::make_shared<StreamCounts>()) {}

asio::awaitable<Reply> KubeletClient::ask(const http::Request& from, NodeRequest to) {
  const auto executor = co_await asio::this_coro::executor;
  if (!to.is_log && !http::asks_for_upgrade(from.headers)) {
    co_return refuse(sync::wire::status::bad_request("Upgrade request required"));
  }
  const auto open = streams_->find(to.node);
  if (open != streams_->end() && open->second >= limits_.streams_per_node) {
    co_return refuse(sync::wire::status::too_many_requests(
        "node " + to.node + " already has " + std::to_string(limits_.streams_per_node) +
            " open logs and sessions",
        1));
  }
  auto counted = std::make_shared<StreamOfNode>(streams_, to.node);
  const http::Endpoint node{.at = {to.host, to.port}, .tls = tls_};
  http::ClientLimits limits;
  limits.http2.enabled = false;
  limits.idle_connections = 0;
  limits.reader.body_bytes = refusal_bytes_max;
  http::Client client(node, limits);
  const MonoTime deadline = loop::clock_of(executor).mono() + limits_.answer;
  auto answer = co_await client.open(request_to_node(from, to), deadline);
  if (!answer) co_return refuse(unreachable(to, answer.error(), limits_.answer));
  if (to.is_log && !answer->stream) co_return refuse(refused_log(to, *answer));
  const KubeletClientLimits* const probed = to.follows ? &limits_ : nullptr;
  co_return pass_on(*std::move(answer), executor, std::move(counted), node, probed);
}

Reply connect_pod(Backend& backend, const Call& call) {
  // As upstream since 1.35: a WebSocket begins with a GET, but runs a command or opens a port.
  if (call.info.verb == "get" && call.info.subresource != "log") {
    sync::objects::RequestInfo creates = call.info;
    creates.verb = "create";
    if (auto may = authorize(backend, call.caller, creates); !may) return refuse(may.error());
  }
  const StoredPtr pod = backend.registry.find(call.stored(), call.name_space(), call.info.name);
  if (!pod) return refuse(missing(call.resource(), call.info.name));
  auto made = node_request(call.info.subresource, pod->object, call.query);
  if (!made) return refuse(made.error());
  if (!*made) return http::Response{.status = 204};
  const sync::printing::Resource& nodes = sync::printing::known_kind("", "Node");
  const StoredPtr node = backend.registry.find(nodes, {}, (*made)->node);
  if (!node) return refuse(missing(nodes, (*made)->node));
  if (auto found = set_address(node->object, **made); !found) return refuse(found.error());
  if (backend.kubelets == nullptr) {
    return refuse(sync::wire::status::service_unavailable(
        "this API server has no client certificate for kubelets"));
  }
  *call.onward = *std::move(made);
  return http::Response{};
}

}  // namespace holdfast::agent::lab
