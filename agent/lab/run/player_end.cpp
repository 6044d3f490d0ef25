// The end of a scenario: its result, and whether the API and the nodes agree.

#include <algorithm>

#include "agent/lab/guest/leftovers.h"
#include "agent/lab/run/player.h"
#include "agent/lab/run/request_log.h"
#include "platform/loop/timer.h"
#include "sync/wire/codec.h"
#include "sync/wire/list_bytes.h"

namespace holdfast::agent::lab::run {
namespace {

constexpr Duration list_limit = std::chrono::seconds(5);
constexpr Duration compare_interval = std::chrono::milliseconds(500);
constexpr std::size_t differences_shown = 5;

// The objects of a collection.
template <class Object>
asio::awaitable<Result<std::vector<Object>>> listed(ApiClient& client, std::string path,
                                                    MonoTime deadline) {
  ApiRequest request{.target = std::move(path)};
  const auto body = co_await client.call(std::move(request), deadline);
  if (!body) co_return fail("list at the end", body.error());
  CO_TRY(const auto list, sync::wire::split_list(*body));
  std::vector<Object> objects;
  for (const auto& item : list.items) {
    CO_TRY(Object object, sync::wire::decode_bytes<Object>(item));
    objects.push_back(std::move(object));
  }
  co_return objects;
}

std::string shown_differences(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t at = 0; at < std::min(all.size(), differences_shown); ++at) {
    text += (text.empty() ? "" : "; ") + all[at];
  }
  if (all.size() > differences_shown) {
    text += "; and " + std::to_string(all.size() - differences_shown) + " more";
  }
  return text;
}

}  // namespace

std::map<std::string, std::uint64_t> Player::bytes_by_node() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& node : cluster_.nodes()) bytes[node->name()] = node->link().bytes();
  return bytes;
}

Result<RunResult> Player::result() {
  auto bytes = bytes_by_node();
  for (auto& [name, count] : bytes) count -= std::min(count, bytes_before_[name]);
  RunResult made = recorder_.finish(bytes);
  for (const auto& [flag, value] : scenario_.cloud) made.settings["cloud." + flag] = value;
  for (const auto& [flag, value] : scenario_.edge) made.settings["edge." + flag] = value;
  if (settings_.speed != 1) made.settings["run.speed"] = std::to_string(settings_.speed);
  if (settings_.host) return made;  // nobody's audit log
  TRY(RequestCounts counts,
      count_requests(cluster_.control_plane().audit_log(), {.begin = recorder_.began(),
                                                            .speed = settings_.speed,
                                                            .counted_from = first_event(scenario_),
                                                            .length = made.duration}));
  made.requests = std::move(counts.classes);
  made.requests_per_second = counts.most_per_second;
  made.series.insert(made.series.begin(), std::move(counts.over_time));
  return made;
}

// ------------------------------------------------------------------------------------ convergence

asio::awaitable<Result<ApiState>> Player::read_api() {
  ApiClient& client = cluster_.client();
  const MonoTime limit = clock_.mono() + list_limit;
  const std::string ours = settings_.host ? "?" + settings_.host->guest.query() : std::string();
  ApiState api;
  CO_TRY(api.nodes, co_await listed<sync::Node>(client, "/api/v1/nodes" + ours, limit));
  CO_TRY(api.leases,
         co_await listed<sync::Lease>(
             client, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", limit));
  CO_TRY(api.pods, co_await listed<sync::Pod>(client, "/api/v1/pods" + ours, limit));
  co_return api;
}

asio::awaitable<Result<std::vector<std::string>>> Player::compare_now() {
  std::vector<NodeState> nodes;
  for (const auto& node : cluster_.nodes()) {
    NodeState state;
    state.name = node->api_name();
    state.has_link = node->is_powered() && !node->link().is_cut();
    if (state.has_link && node->kubelet() != nullptr) {
      CO_TRY(state.kubelet, co_await node->kubelet()->read_pods());
    }
    state.running = node->containers();
    nodes.push_back(std::move(state));
  }
  CO_TRY(const ApiState api, co_await read_api());
  co_return differences(api, nodes, clock_.wall());
}

asio::awaitable<Status> Player::clean_up() {
  const std::string& run = settings_.host->guest.run;
  CO_TRY(const auto client, guest::client_of(*settings_.host, clock_));
  Status cleaned = co_await guest::remove_run(*client, clock_, run);
  if (!cleaned) {
    co_return fail(
        "objects of this run are left in the cluster; remove them with `holdfast-lab run "
        "--clean-up --kubeconfig " +
            settings_.host->file + "`",
        cleaned.error());
  }
  say_(recorder_.now(), "removed everything of " + run);
  co_return cleaned;
}

asio::awaitable<ExpectationResult> Player::converge() {
  const MonoTime from = clock_.mono();
  ExpectationResult expected;
  expected.text = "API and nodes agree within " + format_duration(settings_.converge);
  for (;;) {
    const auto found = co_await compare_now();
    const Duration took = std::chrono::floor<std::chrono::milliseconds>(clock_.mono() - from);
    expected.met = found && found->empty();
    expected.found = expected.met ? "they agree after " + format_duration(took)
                     : found      ? shown_differences(*found)
                                  : found.error().what;
    if (expected.met || took >= settings_.converge || stop_.requested()) co_return expected;
    co_await loop::wait_for(compare_interval);
  }
}

}  // namespace holdfast::agent::lab::run
