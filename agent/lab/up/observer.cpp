#include "agent/lab/up/observer.h"

#include "agent/lab/cluster/watch_objects.h"
#include "platform/http/client.h"
#include "platform/loop/timer.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::up {
namespace {

namespace json = sync::json;

constexpr Duration agent_limit = std::chrono::seconds(1);
constexpr Duration agent_poll = std::chrono::milliseconds(500);
constexpr const char* lease_path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

std::string key_of(const sync::ObjectMeta& metadata) {
  return metadata.namespace_name.empty() ? metadata.name
                                         : metadata.namespace_name + "/" + metadata.name;
}

// Keeps `objects` equal to what the server has.
template <class T>
asio::awaitable<void> mirror(ApiClient& client, const Clock& clock, std::string path,
                             std::map<std::string, T>& objects) {
  auto on_all = [&objects](const std::vector<T>& all) {
    objects.clear();
    for (const T& object : all) objects.emplace(key_of(object.metadata), object);
  };
  auto on_one = [&objects](const T& object, bool gone) {
    if (gone) {
      objects.erase(key_of(object.metadata));
    } else {
      objects.insert_or_assign(key_of(object.metadata), object);
    }
  };
  co_await cluster::watch_objects<T>(client, clock, std::move(path), on_all, on_one);
}

const json::value* member(const json::value* from, std::string_view name) {
  const json::object* object = from == nullptr ? nullptr : from->if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

}  // namespace

AgentSeen agent_seen(std::string_view status) {
  AgentSeen seen;
  const auto parsed = sync::wire::parse_json(status);
  if (!parsed) return seen;
  const json::value* state = member(member(&*parsed, "link"), "state");
  if (state == nullptr || !state->is_string()) return seen;
  seen.answers = true;
  seen.link = std::string(state->get_string());
  const json::value* entries = member(member(&*parsed, "outbox"), "entries");
  if (entries != nullptr && entries->is_number()) {
    boost::system::error_code ec;
    seen.unsent = entries->to_number<std::int64_t>(ec);
    if (ec) seen.unsent = -1;
  }
  return seen;
}

Observer::Observer(asio::any_io_executor executor, ApiClient& client, const Clock& clock)
    : client_(client), clock_(clock), tasks_(std::move(executor)) {}

void Observer::start() {
  tasks_.spawn("nodes", watch_nodes());
  tasks_.spawn("pods", watch_pods());
  tasks_.spawn("leases", watch_leases());
}

asio::awaitable<void> Observer::watch_nodes() {
  return mirror<sync::Node>(client_, clock_, "/api/v1/nodes", observed_.nodes);
}

asio::awaitable<void> Observer::watch_pods() {
  return mirror<sync::Pod>(client_, clock_, "/api/v1/pods", observed_.pods);
}

asio::awaitable<void> Observer::watch_leases() {
  auto on_one = [this](const sync::Lease& lease, bool gone) {
    if (gone) {
      observed_.leases.erase(lease.metadata.name);
      return;
    }
    if (!lease.spec.renew_time) return;
    LeaseSeen& seen = observed_.leases[lease.metadata.name];
    std::string renewed = format_rfc3339(*lease.spec.renew_time, TimeDigits::micros);
    if (renewed == seen.renewed) return;  // a relist repeats it
    seen = {.renewed = std::move(renewed), .at = clock_.mono()};
  };
  co_await cluster::watch_each<sync::Lease>(client_, clock_, lease_path, on_one);
}

void Observer::follow(AgentAddress agent) { tasks_.spawn("agent", watch_agent(std::move(agent))); }

asio::awaitable<void> Observer::watch_agent(AgentAddress agent) {
  std::unique_ptr<http::Client> client;
  std::uint16_t port = 0;
  for (;;) {
    if (agent.port() != port) {
      port = agent.port();
      client = std::make_unique<http::Client>(http::Endpoint{.at = {"127.0.0.1", port}});
    }
    AgentSeen seen;
    if (client && port != 0) {
      http::Request request{.target = "/v1/status"};
      const std::string own = "127.0.0.1:" + std::to_string(port);
      request.headers.add("Host", agent.host.empty() ? own : agent.host);
      const auto answer = co_await client->send(std::move(request), clock_.mono() + agent_limit);
      if (answer && answer->status == 200) seen = agent_seen(answer->body);
    }
    observed_.agents[agent.node] = std::move(seen);
    co_await loop::wait_for(agent_poll);
  }
}

}  // namespace holdfast::agent::lab::up
