#include "agent/node/kubelet/kubelet_api.h"

#include <algorithm>

#include "agent/node/kubelet/container_log.h"
#include "agent/node/kubelet/exec_session.h"
#include "agent/node/kubelet/kubelet_call.h"
#include "agent/node/kubelet/pod_ports.h"
#include "agent/node/kubelet/port_forward.h"
#include "agent/node/kubelet/spdy_exec.h"
#include "platform/log.h"
#include "platform/loop/clock.h"
#include "platform/loop/tasks.h"
#include "platform/net/duplex.h"
#include "platform/text.h"
#include "platform/tls/signer.h"

namespace holdfast::agent::node {
namespace {

constexpr std::size_t tunnel_bytes = 64UL * 1024;  // that a session holds in each direction
constexpr Duration certificate_lifetime = std::chrono::hours(24 * 365);

http::Response reply_text(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(text)};
}

http::Response reply_refusal(const KubeletRefusal& refusal) {
  return reply_text(refusal.status, refusal.message);
}

// The API server's connections are not counted as those of one caller, of which each is a session.
bool is_trusted(const net::Peer& peer) {
  return is_api_server(peer) || http::is_root_or_self(peer);
}

http::Admission admit_api_server(const http::Request& head) {
  if (is_api_server(head.peer)) return {.by_owner = false};
  const std::string& name = head.peer.common_name;
  return {.refusal = reply_text(403, "Forbidden (user=" + (name.empty() ? "unknown" : name) +
                                         ", resource=nodes, subresource=proxy)")};
}

http::ServerLimits limits_of(const KubeletLimits& limits) {
  http::ServerLimits made;
  made.reader.body_bytes = 4096;  // No request has a body.
  made.shares.connections = limits.connections;
  made.tunnels = limits.tunnels;
  made.send = limits.send;
  return made;
}

Result<tls::Identity> serving_identity(const KubeletSettings& settings, WallTime now) {
  if (!settings.identity.certificate_pem.empty()) return settings.identity;
  const tls::Names names{
      .common_name = settings.node_name,
      .alternatives = {"DNS:" + settings.node_name, "IP:" + settings.listen.host}};
  return tls::make_self_signed(names, {.not_before = now - std::chrono::hours(1),
                                       .not_after = now + certificate_lifetime,
                                       .for_server = true});
}

}  // namespace

bool is_api_server(const net::Peer& peer) {
  const auto& groups = peer.organizations;
  return peer.common_name == api_server_name ||
         std::find(groups.begin(), groups.end(), "system:masters") != groups.end();
}

struct KubeletApi::State {
  State(asio::any_io_executor its_executor, const KubeletSettings& settings)
      : executor(its_executor),
        clock(loop::clock_of(its_executor)),
        server(its_executor, limits_of(settings.limits),
               [this](const http::Request& request) { return answer(request); },
               http::plain_problem, {.trusts = is_trusted, .admit = admit_api_server}),
        sessions(std::move(its_executor)) {}

  asio::awaitable<http::Response> answer(const http::Request& request);
  [[nodiscard]] http::Response exec_in(const http::Request& request, const KubeletCall& call);
  [[nodiscard]] KubeletAnswer<proc::ProcessIdentity> process_of(const KubeletCall& call) const;
  [[nodiscard]] http::Response forward_to(const http::Request& request, const KubeletCall& call);
  [[nodiscard]] std::vector<pid_t> leaders_of(const std::string& uid) const;
  [[nodiscard]] http::Response log_of(const KubeletCall& call) const;
  [[nodiscard]] KubeletAnswer<const sync::Pod*> pod_of(const KubeletCall& call) const;
  [[nodiscard]] const sync::runtime::ObservedPod* observed(const std::string& uid) const;
  [[nodiscard]] bool is_running(const std::string& uid, const std::string& container,
                                std::int32_t number) const;

  asio::any_io_executor executor;
  const Clock& clock;
  std::optional<KubeletParts> parts;
  http::Server server;
  loop::Tasks sessions;
  std::unique_ptr<net::Listener> listener;  // until start()
  std::uint16_t port = 0;
};

asio::awaitable<http::Response> KubeletApi::State::answer(const http::Request& request) {
  const auto call = parse_kubelet_call(request);
  if (!call) co_return reply_refusal(call.error());
  if (call->verb == "containerLogs") {
    const bool reads = request.method == http::Method::get;
    co_return reads ? log_of(*call) : reply_text(405, "405: Method Not Allowed");
  }
  co_return call->verb == "exec" ? exec_in(request, *call) : forward_to(request, *call);
}

KubeletAnswer<const sync::Pod*> KubeletApi::State::pod_of(const KubeletCall& call) const {
  if (const sync::Pod* pod = parts->pod(call.name_space, call.pod)) return pod;
  return tl::unexpected(KubeletRefusal{404, "pod \"" + call.pod + "\" does not exist"});
}

const sync::runtime::ObservedPod* KubeletApi::State::observed(const std::string& uid) const {
  const auto& all = parts->runtime.observed();
  const auto found = all.find(uid);
  return found == all.end() ? nullptr : &found->second;
}

bool KubeletApi::State::is_running(const std::string& uid, const std::string& container,
                                   std::int32_t number) const {
  const sync::runtime::ObservedPod* pod = observed(uid);
  if (pod == nullptr || !pod->contains(container)) return false;
  const auto& attempts = pod->at(container);
  return std::any_of(attempts.begin(), attempts.end(), [number](const auto& attempt) {
    return attempt.number == number && attempt.state == sync::runtime::AttemptState::running;
  });
}

KubeletAnswer<proc::ProcessIdentity> KubeletApi::State::process_of(const KubeletCall& call) const {
  const auto pod = pod_of(call);
  if (!pod) return tl::unexpected(pod.error());
  const std::string uid = (*pod)->metadata.uid;
  const auto number = choose_running(**pod, observed(uid), call.container);
  if (!number) return tl::unexpected(number.error());
  const auto run = parts->runtime.find(uid, call.container, *number);
  if (run && run->process) return *run->process;
  return tl::unexpected(KubeletRefusal{500, "container not found (\"" + call.container + "\")"});
}

http::Response KubeletApi::State::exec_in(const http::Request& request, const KubeletCall& call) {
  auto options = parse_exec_options(call.query);
  if (!options) return reply_refusal(options.error());
  auto process = process_of(call);
  if (!process) return reply_refusal(process.error());
  net::Duplex pair = net::make_duplex(executor, tunnel_bytes);
  http::Response response{.status = 101, .headers = {}, .body = {}};
  if (http::websocket::asks_for_websocket(request.headers)) {
    auto accepted = http::websocket::accept(request, exec_protocols);
    if (!accepted) return reply_text(400, accepted.error().what);
    response.headers = std::move(accepted->headers);
    auto socket = std::make_shared<WebSocket>(executor, std::move(pair.far));
    sessions.spawn("exec", run_exec(web_socket_caller(std::move(socket)), *std::move(options),
                                    *std::move(process)));
  } else {
    if (auto asked = check_spdy(request, spdy_exec_protocol); !asked) {
      return reply_refusal(asked.error());
    }
    response.headers = spdy_headers(spdy_exec_protocol);
    sessions.spawn("exec",
                   run_spdy_exec(std::move(pair.far), *std::move(options), *std::move(process)));
  }
  response.tunnel = std::move(pair.near);
  return response;
}

// The processes that lead the running containers of a pod.
std::vector<pid_t> KubeletApi::State::leaders_of(const std::string& uid) const {
  std::vector<pid_t> leaders;
  const sync::runtime::ObservedPod* pod = observed(uid);
  if (pod == nullptr) return leaders;
  for (const auto& [container, attempts] : *pod) {
    if (attempts.empty()) continue;
    const auto run = parts->runtime.find(uid, container, attempts.back().number);
    if (run && run->process) leaders.push_back(run->process->pid);
  }
  return leaders;
}

http::Response KubeletApi::State::forward_to(const http::Request& request,
                                             const KubeletCall& call) {
  const auto pod = pod_of(call);
  if (!pod) return reply_refusal(pod.error());
  std::string name = call.name_space + "/" + call.pod;
  FindPort find_port = [this, uid = (*pod)->metadata.uid](std::uint16_t wanted) {
    return address_of_listener(wanted, leaders_of(uid));
  };
  net::Duplex pair = net::make_duplex(executor, tunnel_bytes);
  http::Response response{.status = 101, .headers = {}, .body = {}};
  if (http::websocket::asks_for_websocket(request.headers)) {
    constexpr std::string_view protocols[] = {port_forward_tunnel};
    auto accepted = http::websocket::accept(request, protocols);
    if (!accepted) return reply_text(400, accepted.error().what);
    response.headers = std::move(accepted->headers);
    auto socket = std::make_shared<WebSocket>(executor, std::move(pair.far));
    sessions.spawn("port-forward",
                   run_port_forward_in(std::move(socket), std::move(find_port), std::move(name)));
  } else {
    if (auto asked = check_spdy(request, port_forward_protocol); !asked) {
      return reply_refusal(asked.error());
    }
    response.headers = spdy_headers(port_forward_protocol);
    sessions.spawn("port-forward",
                   run_port_forward(std::move(pair.far), std::move(find_port), std::move(name)));
  }
  response.tunnel = std::move(pair.near);
  return response;
}

http::Response KubeletApi::State::log_of(const KubeletCall& call) const {
  const auto options = sync::node::parse_log_options(call.query);
  if (!options) return reply_text(400, options.error().what);
  if (const auto errors = sync::node::check_log_options(*options); !errors.empty()) {
    return reply_text(422, sync::wire::aggregate(errors));
  }
  const auto pod = pod_of(call);
  if (!pod) return reply_refusal(pod.error());
  const std::string uid = (*pod)->metadata.uid;
  const auto number = choose_log(**pod, observed(uid), call.container, options->previous);
  if (!number) return reply_refusal(number.error());
  auto run = parts->runtime.find(uid, call.container, *number);
  if (!run) return reply_text(501, "this runtime keeps no logs");
  LogReader reader(*std::move(run), *options, clock.wall());
  http::Response response = reply_text(200, {});
  response.stream =
      std::make_shared<LogStream>(executor, std::move(reader), options->follow,
                                  [this, uid, container = call.container, which = *number] {
                                    return is_running(uid, container, which);
                                  });
  return response;
}

Result<std::unique_ptr<KubeletApi>> KubeletApi::open(asio::any_io_executor executor,
                                                     KubeletSettings settings) {
  const Clock& clock = loop::clock_of(executor);
  TRY(tls::Identity identity, serving_identity(settings, clock.wall()));
  TRY(auto context, tls::Context::for_server({.identity = std::move(identity),
                                              .client_ca_pem = settings.client_ca_pem,
                                              .client_required = true,
                                              .protocols = {"http/1.1"}}));
  TRY(auto listener, net::Listener::open(executor, settings.listen, std::move(context)));
  auto state = std::make_unique<State>(std::move(executor), settings);
  state->port = listener->port();
  state->listener = std::move(listener);
  return std::unique_ptr<KubeletApi>(new KubeletApi(std::move(state)));
}

KubeletApi::KubeletApi(std::unique_ptr<State> state) : state_(std::move(state)) {}

KubeletApi::~KubeletApi() = default;

void KubeletApi::start(KubeletParts parts) {
  state_->parts.emplace(std::move(parts));
  log_info("serving the kubelet's API", {{"kubelet_port", state_->port}});
  state_->server.listen(std::move(state_->listener));
}

asio::awaitable<void> KubeletApi::stop(MonoTime deadline) {
  co_await state_->server.stop(deadline);
  state_->sessions.cancel();
  co_await state_->sessions.join();
}

std::uint16_t KubeletApi::port() const { return state_->port; }

}  // namespace holdfast::agent::node
