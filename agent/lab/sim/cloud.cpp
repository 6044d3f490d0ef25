#include "agent/lab/sim/cloud.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::agent::lab::sim {

namespace lifecycle = sync::lifecycle;

namespace {

LinkProfile data_centre() {
  LinkProfile profile;
  profile.name = "data centre";
  profile.up.latency = profile.down.latency = std::chrono::microseconds(500);
  return profile;
}

constexpr Duration request_limit = std::chrono::seconds(10);
// A watch that was cut for this long is opened again, and everything is listed.
constexpr Duration list_pause = std::chrono::seconds(1);
constexpr std::size_t request_bytes = 300;

const std::string& name_in(const Change& change) {
  return change.node ? change.node->metadata.name : change.lease->metadata.name;
}

lifecycle::Outcome failed(Errc code) {
  lifecycle::Outcome outcome;
  outcome.error = code;
  return outcome;
}

}  // namespace

Cloud::Cloud(Engine& engine, Server& server, const CloudConfig& config,
             EffectPerformer::MayEvict may_evict)
    : engine_(engine),
      server_(server),
      config_(config),
      performer_(server, config_.rules, std::move(may_evict)),
      link_(engine, std::make_shared<Line>(), data_centre()) {
  server_.on_change([this](const Change& change) {
    if (!watch_ || server_.is_silent()) return;
    if (change.lease && server_.has(ApiFault::silent_watch)) return;
    link_.send(Way::down, watch_, request_bytes,
               [this, change] { when_awake([this, change] { take_change(change); }); });
  });
}

sync::control::Now Cloud::now() const { return {engine_.now(), engine_.wall() + clock_offset_}; }

// ------------------------------------------------------------------------------------- process

void Cloud::start() {
  if (controller_) return;
  engine_.trace("holdfast-cloud", "started");
  controller_ = std::make_unique<Controller>(config_.rules, config_.enabled);
  contact_.emplace(engine_.now(), config_.rules.monitor_grace / 2);
  listed_ = false;
  connect();
  await_probe();
}

void Cloud::kill() {
  if (!controller_) return;
  engine_.trace("holdfast-cloud", "killed");
  life_.end();
  if (watch_) watch_->closed = true;
  watch_ = nullptr;
  controller_.reset();
  for (auto& queue : waiting_) queue.clear();
  busy_.clear();
  under_way_ = 0;
  nodes_.clear();
  pods_.clear();
  leases_.clear();
  missed_.clear();
  paused_ = false;
  timer_.clear();
  launching_.clear();
  probing_.clear();
  probes_ = false;
}

void Cloud::pause() { paused_ = true; }

void Cloud::resume() {
  paused_ = false;
  for (const Task& task : std::exchange(missed_, {})) task();
}

void Cloud::when_awake(Task task) {
  if (!controller_) return;
  if (paused_) {
    missed_.push_back(std::move(task));
  } else {
    task();
  }
}

// ------------------------------------------------------------------------------------- watches

// Opens the watches and lists everything.
void Cloud::connect() {
  if (watch_) watch_->closed = true;
  watch_ = link_.connect();
  const auto again = [this] {
    note_failure();
    engine_.after(list_pause, life_, [this] { connect(); });
  };
  if (server_.is_silent() || link_.refuses() || link_.is_cut()) return again();
  const bool refused = server_.has(ApiFault::unavailable) || server_.has(ApiFault::overloaded);
  if (refused) {
    watch_->closed = true;
    watch_ = nullptr;
    return again();
  }
  watch_->on_reset = [this, again, token = life_.token()] {
    if (!token.expired()) when_awake(again);
  };
  link_.send(Way::up, watch_, request_bytes, [this] {
    link_.send(Way::down, watch_, request_bytes, [this] { when_awake([this] { list(); }); });
  });
}

// The list and the changes that follow are one stream, so nothing is missed in between.
template <class T>
void Cloud::feed_all(const std::map<std::string, std::shared_ptr<const T>>& objects,
                     std::set<std::string>& known) {
  std::set<std::string> found;
  for (const auto& [name, object] : objects) {
    found.insert(name);
    feed(sync::control::Changed<T>{*object});
  }
  for (const std::string& name : known) {
    if (found.contains(name)) continue;
    const std::size_t slash = name.find('/');
    const bool is_namespaced = slash != std::string::npos;
    feed(sync::control::Removed<T>{is_namespaced ? name.substr(0, slash) : "",
                                   is_namespaced ? name.substr(slash + 1) : name});
  }
  known = std::move(found);
}

void Cloud::list() {
  if (!controller_) return;
  feed_all(server_.nodes(), nodes_);
  feed_all(server_.pods(), pods_);
  feed_all(server_.leases(), leases_);
  note_answer();
  if (listed_) return;
  listed_ = true;
  feed(sync::control::TimePassed{});
}

void Cloud::take_change(const Change& change) {
  if (!controller_) return;
  const bool deleted = change.type == ChangeType::deleted;
  if (change.pod) {
    const std::string key = key_of(*change.pod);
    if (deleted) {
      pods_.erase(key);
      feed(sync::control::Removed<sync::Pod>{change.pod->metadata.namespace_name,
                                             change.pod->metadata.name});
    } else {
      pods_.insert(key);
      feed(sync::control::Changed<sync::Pod>{*change.pod});
    }
    return;
  }
  const std::string& name = name_in(change);
  if (change.lease) {
    leases_.insert(name);
    feed(sync::control::Changed<sync::Lease>{*change.lease});
  } else if (deleted) {
    nodes_.erase(name);
    feed(sync::control::Removed<sync::Node>{"", name});
  } else {
    nodes_.insert(name);
    feed(sync::control::Changed<sync::Node>{*change.node});
  }
}

// -------------------------------------------------------------------------------------- effects

void Cloud::feed(const Controller::Input& input) {
  auto step = controller_->step(now(), input);
  deadline_ = step.deadline;
  act(std::move(step.effects));
  arm();
}

void Cloud::arm() {
  if (!listed_ || !controller_ || quiet_ || contact_->is_lost()) return;
  timer_.set(engine_, life_, std::max(deadline_, engine_.now()), [this] {
    when_awake([this] {
      if (controller_ && !contact_->is_lost()) feed(sync::control::TimePassed{});
    });
  });
}

bool Cloud::is_idle() const {
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(),
                                 [](const auto& queue) { return !queue.empty(); });
  return controller_ && listed_ && !paused_ && !contact_->is_lost() && !waits && under_way_ == 0;
}

void Cloud::set_quiet(bool quiet) {
  if (std::exchange(quiet_, quiet) == quiet) return;
  timer_.clear();
  if (!quiet) deadline_ = next_in_rhythm(deadline_, config_.rules.monitor_period, engine_.now());
  arm();
}

void Cloud::lease_renewed(const std::string& node, WallTime renewed) {
  if (!controller_ || !listed_) return;
  note_answer();
  skipped_.metadata.name = node;
  skipped_.spec.renew_time = renewed;
  (void)controller_->step(now(), sync::control::Changed<sync::Lease>{skipped_});
}

void Cloud::act(std::vector<Effect> effects) {
  for (Effect& effect : effects) {
    waiting_[lifecycle::order_of(effect).urgency].push_back(std::move(effect));
  }
  if (!effects.empty()) launch();
}

// Sends what may be sent now: the most urgent first, one effect for each object at a time.
void Cloud::launch() {
  for (auto& queue : waiting_) {
    for (auto effect = queue.begin(); effect != queue.end();) {
      if (under_way_ >= config_.at_once) return;
      const std::string object = lifecycle::order_of(*effect).object;
      if (!object.empty() && busy_.contains(object)) {
        ++effect;
        continue;
      }
      if (engine_.now() < next_request_) {
        launching_.set(engine_, life_, next_request_, [this] { launch(); });
        return;
      }
      const auto interval = std::chrono::duration_cast<Duration>(
          std::chrono::duration<double>(1 / config_.requests_per_second));
      next_request_ = std::max(next_request_, engine_.now()) + interval;
      if (!object.empty()) busy_.insert(object);
      ++under_way_;
      Effect taken = std::move(*effect);
      effect = queue.erase(effect);
      send(std::move(taken));
    }
  }
}

void Cloud::send(Effect effect) {
  ++requests_;
  const auto end = [this, effect](const Outcome& outcome) {
    --under_way_;
    busy_.erase(lifecycle::order_of(effect).object);
    if (!lifecycle::order_of(effect).is_report) feed(lifecycle::Performed{effect, outcome});
    launch();
  };
  if (controller_->is_obsolete(effect)) return end(failed(Errc::not_found));
  request(
      request_limit, [this, effect] { return performer_.perform(effect); }, end);
}

// `perform` runs at the server, if that is healthy. `end` gets the answer, or a failure, once.
void Cloud::request(Duration limit, std::function<Outcome()> perform,
                    std::function<void(const Outcome&)> end) {
  const auto done = std::make_shared<bool>(false);
  const auto settle = [this, end = std::move(end), done](const Outcome& outcome, bool healthy) {
    if (!controller_ || std::exchange(*done, true)) return;
    healthy ? note_answer() : note_failure();
    end(outcome);
  };
  if (server_.is_down() || link_.refuses()) {
    return engine_.after(std::chrono::milliseconds(1), life_, [this, settle] {
      when_awake([settle] { settle(failed(Errc::unavailable), false); });
    });
  }
  const auto connection = link_.connect();
  const auto token = life_.token();
  link_.send(Way::up, connection, request_bytes, [this, perform, settle, connection, token] {
    if (server_.is_silent()) return;
    const bool answers_503 = server_.has(ApiFault::unavailable);
    const bool healthy = !answers_503 && !server_.has(ApiFault::overloaded);
    const Outcome outcome =
        healthy ? perform() : failed(answers_503 ? Errc::unavailable : Errc::exhausted);
    link_.send(Way::down, connection, request_bytes, [this, settle, outcome, healthy, token] {
      if (!token.expired()) when_awake([=] { settle(outcome, healthy); });
    });
  });
  engine_.after(limit, life_, [this, settle, connection] {
    connection->closed = true;
    when_awake([settle] { settle(failed(Errc::timeout), false); });
  });
}

// -------------------------------------------------------------------------------------- contact

void Cloud::note_answer() {
  const bool was_lost = contact_->is_lost();
  if (contact_->note_answer(engine_.now())) {
    engine_.trace("holdfast-cloud", "API server reachable again, grace periods restarted");
    feed(lifecycle::ContactRestored{});
  }
  if (was_lost) arm();
}

void Cloud::note_failure() {
  if (contact_->is_lost()) return;
  engine_.trace("holdfast-cloud", "evictions paused: the API server does not answer");
  contact_->note_failure(engine_.now());
  timer_.clear();
  if (!probes_) await_probe();
}

// One probe at a time.
void Cloud::await_probe() {
  probing_.set(engine_, life_, contact_->probe_due(), [this] {
    if (engine_.now() < contact_->probe_due()) return await_probe();
    when_awake([this] { probe(); });
  });
}

void Cloud::probe() {
  ++requests_;
  probes_ = true;
  const bool was_lost = contact_->is_lost();
  contact_->note_probe(engine_.now());
  const auto end = [this, was_lost](const Outcome& outcome) {
    probes_ = false;
    // The watches may have died silently meanwhile.
    if (was_lost && outcome.ok()) connect();
    await_probe();
  };
  request(
      contact_->probe_limit(), [] { return Outcome(); }, end);
}

}  // namespace holdfast::agent::lab::sim
