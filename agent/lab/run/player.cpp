#include "agent/lab/run/player.h"

#include <algorithm>

#include "agent/lab/cluster/watch_objects.h"
#include "agent/lab/scenario/configuration.h"
#include "agent/lab/scenario/describe.h"
#include "platform/check.h"
#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::agent::lab::run {
namespace {

using namespace std::chrono_literals;

constexpr Duration poll = 50ms;
constexpr Duration containers_poll = 100ms;

cluster::ClusterSettings cluster_settings(const Scenario& scenario, const FastScenario& fast,
                                          const PlayerSettings& settings) {
  cluster::ClusterSettings made;
  made.data = settings.data;
  made.sites = fast.scenario.sites;
  made.workloads = fast.scenario.workloads;
  made.cloud = fast.cloud;
  made.edge = fast.edge;
  made.node = fast.node;
  const auto configuration = configuration_of(scenario);
  made.cloud_schedules =
      !scenario.cloud.contains("controllers") || (configuration && configuration->has_scheduler);
  made.namespaces = settings.namespaces;
  made.kubernetes = settings.kubernetes;
  made.host = settings.host;
  made.kubelet = settings.kubelet;
  made.kubelet_nodes = settings.kubelet_nodes;
  if (configuration) made.kubelet_lease = configuration->edge.lease_duration;
  made.seed = scenario.seed;
  made.drain_retry = Duration(5s) / settings.speed;
  return made;
}

}  // namespace

Player::Player(const asio::any_io_executor& executor, const Scenario& scenario, FastScenario fast,
               std::vector<ManifestObject> manifests, PlayerSettings settings, const Clock& clock,
               const loop::Stop& stop, RunRecorder::Say say)
    : scenario_(scenario),
      fast_(std::move(fast)),
      manifests_(std::move(manifests)),
      settings_(std::move(settings)),
      clock_(clock),
      stop_(stop),
      say_(say),
      recorder_(scenario, settings_.speed, clock, std::move(say)),
      cluster_(executor, cluster_settings(scenario, fast_, settings_), clock,
               {.node_changed = [this](const auto& node) { recorder_.node_changed(node); },
                .problem = [this](const auto& what) { say_(recorder_.now(), what); }}),
      watchers_(executor) {}

asio::awaitable<Result<RunResult>> Player::play() {
  const Status played = co_await play_all();
  Result<RunResult> made = fail(Errc::cancelled, "stopped");
  if (played) {
    made = result();
    if (made && settings_.converge > Duration::zero()) {
      ExpectationResult agreed = co_await converge();
      made->expectations.push_back(std::move(agreed));
    }
  } else {
    made = fail(played.error());
  }
  watchers_.cancel();
  co_await watchers_.join();
  left_running_ = co_await cluster_.stop();
  if (settings_.host) {
    cleaned_ = co_await clean_up();
  }
  co_return made;
}

asio::awaitable<Status> Player::play_all() {
  std::optional<guest::Guest> guest;
  if (settings_.host) guest = settings_.host->guest;
  const auto objects = objects_of(fast_.scenario, fast_.default_toleration, guest);
  Status done = co_await cluster_.start();
  if (!done) co_return done;
  observe();
  if (guest) done = co_await create(guest_namespaces(settings_.spaces, *guest), false);
  if (!done) co_return done;
  done = co_await become_ready();
  if (done) done = co_await create(objects, false);
  if (done) done = co_await create_manifests(false);
  if (!done) co_return done;
  co_await become_complete();
  done = co_await wait_until(clock_.mono());
  if (!done) co_return done;
  bytes_before_ = bytes_by_node();
  began_ = clock_.mono();
  recorder_.begin();
  say_(Duration::zero(), "the scenario begins");
  done = co_await create(objects, true);
  if (done) done = co_await create_manifests(true);
  if (done) done = co_await perform_steps();
  co_return done;
}

asio::awaitable<Status> Player::wait_until(MonoTime time) {
  Status done;
  for (;;) {
    if (stop_.requested()) co_return fail(Errc::cancelled, "stopped");
    const MonoTime now = clock_.mono();
    if (now >= time) co_return done;
    co_await loop::sleep_until(std::min(time, now + poll));
  }
}

asio::awaitable<Status> Player::become_ready() {
  const MonoTime limit = clock_.mono() + settings_.ready_limit;
  Status done;
  while (!recorder_.is_fleet_ready()) {
    const std::vector<std::string>& ended = cluster_.children().abnormal_exits();
    if (!ended.empty()) {
      co_return fail(Errc::unavailable,
                     ended.front() + ", see its log in " + (settings_.data / "logs").string());
    }
    if (clock_.mono() > limit) {
      co_return fail(Errc::timeout, not_ready());
    }
    done = co_await wait_until(clock_.mono() + poll);
    if (!done) co_return done;
  }
  co_return done;
}

std::string Player::not_ready() const {
  const std::string text =
      "not all nodes became Ready within " + format_duration(settings_.ready_limit);
  if (!settings_.host) return text;
  return text + "; in " + settings_.host->file +
         "'s cluster a lifecycle controller must judge nodes and remove the taint "
         "node.kubernetes.io/not-ready of new ones";
}

asio::awaitable<Status> Player::create(std::vector<ApiObject> objects, bool jobs) {
  cluster::ApiActions api(cluster_.client(), clock_);
  Status done;
  for (const ApiObject& object : objects) {
    if (object.collection.ends_with("/jobs") != jobs) continue;
    done = co_await api.post(object.collection, object.body);
    if (done) continue;
    const bool is_unknown = done.error().code == Errc::not_found;
    co_return fail("create " + object.collection + "/" + object.name +
                       (is_unknown ? " (the API server does not have this kind)" : ""),
                   done.error());
  }
  co_return done;
}

asio::awaitable<Status> Player::create_manifests(bool jobs) {
  cluster::ApiActions api(cluster_.client(), clock_);
  Status done;
  for (const ManifestObject& object : manifests_) {
    if ((object.kind == "Job") != jobs) continue;
    auto collection = co_await api.collection(object.api_version, object.kind, object.space);
    if (!collection) co_return fail(object.place, collection.error());
    done = co_await api.post(*std::move(collection), object.body);
    if (!done) co_return fail(object.place + ": create " + object.name, done.error());
  }
  co_return done;
}

asio::awaitable<void> Player::become_complete() {
  const MonoTime limit = clock_.mono() + settings_.complete_limit;
  while (!recorder_.incomplete().empty() && clock_.mono() < limit && !stop_.requested()) {
    co_await loop::wait_for(poll);
  }
  for (const std::string& title : recorder_.incomplete()) {
    say_(Duration::zero(), title + ": fewer pods than wanted run when the scenario begins");
  }
}

std::vector<Player::Step> Player::steps() const {
  std::vector<Step> all;
  const auto& events = fast_.scenario.events;
  for (std::size_t at = 0; at < events.size(); ++at) {
    all.push_back({events[at].at, true, at});
    if (events[at].duration) all.push_back({events[at].at + *events[at].duration, false, at});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Step& left, const Step& right) { return left.at < right.at; });
  return all;
}

asio::awaitable<Status> Player::perform_steps() {
  Status done;
  for (const Step& step : steps()) {
    done = co_await wait_until(began_ + step.at);
    if (done) done = perform(step);
    if (!done) co_return done;
  }
  done = co_await wait_until(began_ + fast_.scenario.duration);
  co_return done;
}

Status Player::perform(const Step& step) {
  const ScenarioEvent& event = fast_.scenario.events[step.event];
  if (!step.begins) {
    const Description description = describe(event.action);
    say_(recorder_.now(), description.target + ": " + description.what + ", ended");
    return cluster_.end(event);
  }
  recorder_.fault(scenario_.events[step.event]);
  if (const auto* scale = std::get_if<Scale>(&event.action)) {
    recorder_.scaled(scale->workload, scale->replicas);
  }
  return cluster_.perform(event);
}

sync::Pod Player::bare(sync::Pod pod) const {
  if (settings_.host) {
    const guest::Guest& guest = settings_.host->guest;
    pod.metadata.namespace_name = guest.bare(pod.metadata.namespace_name);
    pod.spec.node_name = guest.bare(pod.spec.node_name);
  }
  return pod;
}

void Player::observe() {
  auto& client = cluster_.client();
  RunRecorder* recorder = &recorder_;
  const std::string labels = settings_.host ? settings_.host->guest.selector() : std::string();
  for (const auto& node : cluster_.nodes()) recorder_.node_changed(*node);
  watchers_.spawn("nodes", cluster::watch_each<sync::Node>(
                               client, clock_, "/api/v1/nodes",
                               [this, recorder](sync::Node node, bool gone) {
                                 if (gone) return;
                                 if (settings_.host) {
                                   auto& name = node.metadata.name;
                                   name = settings_.host->guest.bare(name);
                                 }
                                 recorder->node_seen(node);
                               },
                               labels));
  watchers_.spawn("pods", cluster::watch_objects<sync::Pod>(
                              client, clock_, "/api/v1/pods",
                              [this, recorder](const auto& listed) {
                                std::vector<sync::Pod> pods;
                                pods.reserve(listed.size());
                                for (const sync::Pod& pod : listed) pods.push_back(bare(pod));
                                recorder->pods_listed(pods);
                              },
                              [this, recorder](const auto& pod, bool gone) {
                                recorder->pod_seen(bare(pod), gone);
                              },
                              labels));
  observe_events();
  watchers_.spawn("containers", watch_containers());
}

// Events have no labels.
void Player::observe_events() {
  std::vector<std::string> paths = {"/api/v1/events"};
  if (settings_.host) {
    paths.clear();
    for (const std::string& space : settings_.spaces) {
      paths.push_back("/api/v1/namespaces/" + settings_.host->guest.space(space) + "/events");
    }
  }
  RunRecorder* recorder = &recorder_;
  for (std::string& path : paths) {
    watchers_.spawn(
        "events", cluster::watch_each<sync::Event>(cluster_.client(), clock_, std::move(path),
                                                   [recorder](const sync::Event& event, bool gone) {
                                                     if (!gone) recorder->event_seen(event);
                                                   }));
  }
}

asio::awaitable<void> Player::watch_containers() {
  for (;;) {
    for (const auto& node : cluster_.nodes()) {
      recorder_.containers_are(node->name(), node->containers());
    }
    co_await loop::wait_for(containers_poll);
  }
}

}  // namespace holdfast::agent::lab::run
