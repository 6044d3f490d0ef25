#include "agent/edge/link/rejoin.h"

#include <algorithm>

#include "agent/client/limited_client.h"
#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/status.h"

namespace holdfast::agent {

Rejoin::Rejoin(Settings settings, ScopeTable& scopes, Uplink& uplink, ScopeReflectors& reflectors,
               OfflineStore& offline_store, NodeLease& lease, Registration& registration,
               const Clock& clock, Random& random)
    : settings_(std::move(settings)),
      scopes_(scopes),
      uplink_(uplink),
      reflectors_(reflectors),
      offline_store_(offline_store),
      lease_(lease),
      registration_(registration),
      clock_(clock),
      random_(random),
      replay_(settings_.node_name, uplink, offline_store, clock) {}

Rejoin::CachedNode Rejoin::cached_node() const {
  const store::ScopeKey nodes{
      .owner = std::string(node_owner), .version = "v1", .resource = "nodes"};
  const sync::watch::ObjectKey key{"", settings_.node_name};
  const ScopePtr scope = scopes_.covering(nodes, key, true);
  return {scope, scope ? scope->cache().find(key) : nullptr};
}

asio::awaitable<void> Rejoin::renew_meanwhile() {
  MonoTime due = uplink_.link().renewed_at() + settings_.lease_renew_interval;
  for (;;) {
    co_await loop::sleep_until(due);
    due = clock_.mono() + settings_.lease_renew_interval;
    const Status renewed = co_await lease_.renew(uplink_);
    if (renewed) uplink_.renewed(lease_.renewed_at());
  }
}

asio::awaitable<void> Rejoin::rejoin() {
  began_ = clock_.mono();
  offline_store_.record("link", "nodes/" + settings_.node_name, "rejoining");
  const auto meanwhile = std::make_shared<loop::Tasks>(co_await asio::this_coro::executor);
  meanwhile_ = meanwhile;
  meanwhile->spawn("lease", renew_meanwhile());
  Status done = co_await run_stages();
  meanwhile->cancel();
  co_await meanwhile->join();
  // Writes may have been accepted while that task ended. From here on nothing else runs before the
  // link is connected.
  if (done) done = co_await catch_up();
  replay_.keep_answers(false);
  reflectors_.end_turns();
  uplink_.set_closing(false);
  if (done) {
    uplink_.rejoined();
    replay_.drain_soon();
    offline_store_.record("link", "nodes/" + settings_.node_name, "connected");
  } else {
    uplink_.rejoin_failed(done.error());
    offline_store_.record("link", "nodes/" + settings_.node_name, "offline: " + done.error().what);
  }
}

asio::awaitable<void> Rejoin::join() {
  co_await replay_.join();
  for (const auto& tasks : {probe_, meanwhile_}) {
    if (!tasks) continue;
    tasks->cancel();
    co_await tasks->join();
  }
}

asio::awaitable<Status> Rejoin::run_stages() {
  shown_ = lease_.shown();
  // A node that starts for the first time does not wait: it has nothing to list, and its kubelet
  // waits to register.
  const auto& all = scopes_.all();
  const bool has_cache = std::any_of(
      all.begin(), all.end(), [](const auto& each) { return each.second->cache().complete(); });
  if (has_cache) {
    const MonoTime now = clock_.mono();
    const Duration most = uplink_.link().rejoin_delay_max(now, settings_.jitter);
    co_await loop::sleep_until(now + random_.jitter(most));
  }
  writes_postponed_ = false;
  replay_.keep_answers(true);
  Status done = co_await check_node();
  if (done) done = co_await send_writes();
  if (done) done = co_await refresh_by_priority();
  // Most of what was accepted meanwhile is sent while the lease is still renewed.
  if (done) done = co_await catch_up();
  // If scopes were not refreshed in time, the link itself may be the cause.
  if (done && missed_scopes_) done = co_await check_node();
  co_return done;
}

void Rejoin::settle_scopes() {
  const auto last_answer = [this](const sync::autonomy::WrittenObject& object) {
    return replay_.last_answer(object);
  };
  for (const ScopePtr& scope : reflectors_.with_local_versions()) {
    reflectors_.settle(scope, last_answer);
  }
}

asio::awaitable<Status> Rejoin::catch_up() {
  for (bool first = true;; first = false) {
    // Otherwise a node that writes more often than this takes would never be connected.
    if (!first) uplink_.set_closing(true);
    const std::uint64_t accepted = offline_store_.accepted();
    Status drained = co_await send_writes();
    if (!drained) co_return drained;
    if (offline_store_.accepted() != accepted) continue;
    std::vector<ScopePtr> outdated = reflectors_.with_local_versions();
    if (outdated.empty()) co_return drained;
    const MonoTime since = clock_.mono();
    settle_scopes();
    reflectors_.list_again(reflectors_.with_local_versions());
    std::erase_if(outdated,
                  [this](const ScopePtr& scope) { return !reflectors_.is_restarting(*scope); });
    co_await wait_for(std::move(outdated), since, turn_limit());
  }
}

asio::awaitable<Status> Rejoin::send_writes() {
  Status sent;
  if (writes_postponed_) co_return sent;
  sent = co_await replay_.drain(began_);
  if (!replay_.was_not_taken()) co_return sent;
  Status answers = co_await check_node();
  writes_postponed_ = answers.has_value();
  co_return answers;
}

void Rejoin::check_node_later() {
  node_pause_ =
      std::clamp(node_pause_ * 2, rejoin_limits.node_pause_min, rejoin_limits.node_pause_max);
  node_due_ = clock_.mono() + node_pause_;
}

void Rejoin::note_unreadable(const std::string& why) {
  check_node_later();
  if (why == node_problem_) return;
  node_problem_ = why;
  offline_store_.record("node", "nodes/" + settings_.node_name, "the Node cannot be read: " + why);
}

asio::awaitable<void> Rejoin::check_node_when_due() {
  for (;;) {
    const bool connected = uplink_.link().state() == sync::autonomy::LinkState::connected;
    const MonoTime due = connected && node_due_ ? *node_due_ : MonoTime::max();
    if (clock_.mono() < due) {
      (void)co_await uplink_.changed().wait_until(due);
      continue;
    }
    const Status checked = co_await check_node();
    if (!checked) check_node_later();
  }
}

void Rejoin::note_node_version(sync::objects::Version before, std::string_view text) {
  const sync::objects::Version version = sync::objects::parse_version(text).value_or(0);
  shown_ = std::max(shown_, version);
  const bool comparable = version != 0 && !sync::objects::is_local(before);
  if (comparable && version < before) note_setback({before, version});
}

asio::awaitable<Result<http::Response>> Rejoin::read_node() {
  const MonoTime until = clock_.mono() + rejoin_limits.overload;
  for (;;) {
    ApiRequest request{.target = "/api/v1/nodes/" + percent_encode(settings_.node_name)};
    auto node = co_await uplink_.send(std::move(request), false, rejoin_limits.request);
    const bool overloaded = node && (node->status == 429 || node->status == 503);
    if (node && !overloaded) overload_backoff_.reset();
    const bool rejoining = uplink_.link().state() == sync::autonomy::LinkState::rejoining;
    if (!overloaded || !rejoining || !lease_.is_known()) co_return node;
    const Duration asked = pause_of(*node, {.pause_min = {}}).value_or(Duration::zero());
    const MonoTime again =
        clock_.mono() + std::max(asked, overload_backoff_.next(clock_.mono(), random_));
    if (again > until) co_return fail(sync::wire::to_error(node->status, node->body));
    co_await loop::sleep_until(again);
  }
}

asio::awaitable<Status> Rejoin::check_node() {
  const CachedNode cached = cached_node();
  const sync::objects::Version before = cached.object != nullptr ? cached.object->version : 0;
  const auto node = co_await read_node();
  if (!node) co_return fail("node", node.error());
  const std::string subject = "nodes/" + settings_.node_name;
  Status done;
  const CachedNode known = cached_node();
  if (node->status != 200 && known.object != nullptr) {
    const auto& kind = known.scope->cache().kind();
    known_node_ = sync::watch::cached_json(kind, known.object->bytes).value_or("");
  }
  if (node->status == 404) {
    const auto registered = co_await registration_.repeat(known_node_);
    if (!registered) co_return fail(registered.error());
    node_due_.reset();
    if (!*registered) check_node_later();
    co_return done;
  }
  const auto header = sync::wire::read_header(node->body);
  if (node->status != 200 || !header) {
    // One object that cannot be read is no evidence about the link.
    const bool unreadable = node->status == 200;
    const std::string why =
        unreadable ? header.error().what : "answered " + std::to_string(node->status);
    note_unreadable(why);
    co_return done;
  }
  node_due_.reset();
  node_pause_ = {};
  node_problem_.clear();
  known_node_.clear();
  registration_.note_existence();
  sync::objects::RequestInfo about{
      .is_resource = true, .version = "v1", .resource = "nodes", .name = settings_.node_name};
  if (known.object != nullptr && known.object->uid != header->uid) {
    log_warn(
        "the cloud has another node with this name",
        {{"node", settings_.node_name}, {"uid", header->uid}, {"known_uid", known.object->uid}});
    offline_store_.record("node", subject,
                          "the cloud has another node with this name: uid " + header->uid);
    // The cloud's other objects may be other ones, too.
    reflectors_.list_all_again();
    // What the kubelet reported of the other node is not true of this one.
    about.subresource = "status";
    done = offline_store_.drop_superseded(about);
    if (!done) co_return done;
    about.subresource.clear();
  }
  note_node_version(before, header->resource_version);
  lease_.set_node_uid(header->uid);
  co_return offline_store_.drop_superseded(about);
}

asio::awaitable<void> Rejoin::replay_when_due() {
  for (;;) {
    const bool connected = uplink_.link().state() == sync::autonomy::LinkState::connected;
    const MonoTime due = connected ? replay_.due() : MonoTime::max();
    if (clock_.mono() < due) {
      (void)co_await uplink_.changed().wait_until(due);
      continue;
    }
    const Status sent = co_await replay_.drain();
    if (!sent) log_info("replay interrupted, will be continued", {{"error", sent.error()}});
  }
}

// Whether our own byte budget delayed requests since `time`. Such a delay does not count as a late
// list.
bool Rejoin::was_delayed_since(MonoTime time) const {
  return uplink_.bytes().was_delayed_since(time);
}

// Waits until these scopes were refreshed, at most for `limit`, which starts again as long as our
// own byte budget delays requests. Then marks the missing ones unhealthy.
asio::awaitable<void> Rejoin::wait_for(std::vector<ScopePtr> scopes, MonoTime since,
                                       Duration limit) {
  for (;;) {
    const MonoTime from = clock_.mono();
    const bool heard = co_await reflectors_.wait_until_refreshed(scopes, since, from + limit);
    if (heard) co_return;
    if (was_delayed_since(from)) continue;
    missed_scopes_ = true;
    reflectors_.give_up_waiting(scopes, since);
    co_return;
  }
}

Duration Rejoin::turn_limit() const {
  return std::max(rejoin_limits.turn, 2 * uplink_.heartbeat_limit());
}

asio::awaitable<Status> Rejoin::refresh_by_priority() {
  const MonoTime began = clock_.mono();
  missed_scopes_ = false;
  settle_scopes();
  co_await reflectors_.begin_turns(shown_);
  for (int turn = 0; turn < turns; ++turn) {
    reflectors_.admit(turn);
    const Duration one = turn_limit();
    const Duration left = began + rejoin_limits.all_turns * one - clock_.mono();
    const Duration limit = std::clamp<Duration>(left, rejoin_limits.turn_min, one);
    std::vector<ScopePtr> scopes = reflectors_.awaited_in(turn);
    co_await wait_for(std::move(scopes), began, limit);
  }
  Status done;
  co_return done;
}

}  // namespace holdfast::agent
