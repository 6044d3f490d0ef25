#include "agent/node/process/process_table.h"

#include <csignal>

#include "agent/node/process/launch_wire.h"
#include "agent/node/process/log_limit.h"
#include "platform/check.h"
#include "platform/proc/process.h"

namespace holdfast::agent::node {
namespace {

using sync::runtime::AttemptState;
using sync::runtime::ContainerExit;

// The current attempt, the previous one, and one between them that never began.
constexpr std::size_t attempts_kept = 3;

bool is_over(const sync::runtime::Attempt& attempt) { return attempt.state == AttemptState::ended; }

AttemptView failed_view(const sync::runtime::StartContainer& start, const BootTime& now,
                        std::string why) {
  AttemptView view;
  view.attempt.number = start.number;
  view.attempt.restarts = start.restarts;
  view.attempt.next_delay = start.next_delay;
  view.attempt.state = AttemptState::ended;
  view.attempt.started_wall = view.attempt.ended_wall = now.wall;
  view.attempt.started = view.attempt.ended = now.mono;
  view.attempt.exit = {ContainerExit::Kind::failed, 0, std::move(why)};
  return view;
}

}  // namespace

void ProcessTable::scan() {
  for (const std::string& uid : state_.uids()) {
    for (const std::string& container : state_.containers(uid)) {
      for (const std::int32_t number : state_.attempts(uid, container)) {
        const AttemptKey key{uid, container, number};
        look(key, entries_[key]);
      }
    }
    publish(uid);
  }
}

void ProcessTable::look(const AttemptKey& key, Entry& entry) {
  entry.view = settle_attempt(clock_, dir(key), key.number, entry.shim);
}

void ProcessTable::publish(const std::string& uid) {
  sync::runtime::ObservedPod pod;
  for (auto entry = entries_.lower_bound({uid, "", 0}); entry != entries_.end(); ++entry) {
    if (entry->first.uid != uid) break;
    pod[entry->first.container].push_back(entry->second.view.attempt);
  }
  observed_[uid] = std::move(pod);
}

Result<proc::ProcessIdentity> ProcessTable::spawn_shim(const sync::runtime::StartContainer& start) {
  const std::string& uid = start.pod.uid;
  const AttemptRecord record{start.restarts, start.next_delay};
  // attempt.json is on disk before the shim starts: after a crash the attempt is known.
  auto made = state_.create_attempt(uid, start.container, start.number, record);
  if (!made) return fail(made.error());
  const std::string& own = start.plan.working_dir;
  std::vector<std::string> argv = shim_;
  argv.push_back(state_.attempt(uid, start.container, start.number).string());
  argv.push_back(own.empty() ? state_.work(uid, start.container).string() : own);
  return proc::spawn({.argv = std::move(argv), .env = {}, .input = encode_launch(start.plan)});
}

void ProcessTable::start(const sync::runtime::StartContainer& start) {
  const AttemptKey key{start.pod.uid, start.container, start.number};
  CHECK(!entries_.contains(key));
  auto shim = spawn_shim(start);
  if (!shim) return start_failed(start, shim.error().what);
  Entry& entry = entries_[key];
  shims_.push_back({key, *shim});
  entry.shim = *std::move(shim);
  look(key, entry);
  prune(start.pod.uid, start.container);
  publish(start.pod.uid);
}

void ProcessTable::start_failed(const sync::runtime::StartContainer& start, std::string why) {
  entries_[{start.pod.uid, start.container, start.number}].view =
      failed_view(start, BootTime::now(clock_), std::move(why));
  prune(start.pod.uid, start.container);
  publish(start.pod.uid);
}

// Removes old attempts, which neither status nor back-off need any more, with their logs.
void ProcessTable::prune(const std::string& uid, const std::string& container) {
  std::vector<AttemptKey> keys;
  for (const auto& [key, entry] : entries_) {
    if (key.uid == uid && key.container == container) keys.push_back(key);
  }
  for (std::size_t i = 0; i + attempts_kept < keys.size(); ++i) {
    if (!is_over(entries_.at(keys[i]).view.attempt)) continue;
    // A directory that cannot be removed now is removed with its pod.
    (void)fs::remove_tree(dir(keys[i])).has_value();
    entries_.erase(keys[i]);
  }
}

Status ProcessTable::signal(const sync::runtime::SignalContainer& signal) {
  const auto found = entries_.find({signal.uid, signal.container, signal.number});
  if (found == entries_.end() || !found->second.view.process) {
    return fail(Errc::not_found, "signal container " + signal.container + ": it does not run");
  }
  const int number = signal.signal == sync::runtime::StopSignal::kill ? SIGKILL : SIGTERM;
  return proc::signal_group(*found->second.view.process, number);
}

void ProcessTable::forget(const std::string& uid) {
  std::erase_if(entries_, [&uid](const auto& entry) { return entry.first.uid == uid; });
  observed_.erase(uid);
}

void ProcessTable::reap_shims() {
  std::erase_if(shims_, [](const Watch& shim) { return proc::reap(shim.process.pid).has_value(); });
}

bool ProcessTable::refresh(const AttemptKey& key) {
  reap_shims();
  const auto found = entries_.find(key);
  if (found == entries_.end() || is_over(found->second.view.attempt)) return false;
  const sync::runtime::Attempt before = found->second.view.attempt;
  look(key, found->second);
  if (found->second.view.attempt == before) return false;
  publish(key.uid);
  return true;
}

Status ProcessTable::limit_logs(std::uint64_t limit) const {
  Status done;
  for (const auto& [key, entry] : entries_) {
    if (entry.view.attempt.state != AttemptState::running) continue;
    const auto limited = limit_log(dir(key) / log_file, limit);
    if (!limited) done = fail(limited.error());
  }
  return done;
}

std::vector<Watch> ProcessTable::watched() const {
  std::vector<Watch> all = shims_;
  for (const auto& [key, entry] : entries_) {
    if (entry.view.watched) all.push_back({key, *entry.view.watched});
  }
  return all;
}

std::vector<AttemptKey> ProcessTable::beginning() const {
  std::vector<AttemptKey> keys;
  for (const auto& [key, entry] : entries_) {
    if (entry.view.attempt.state == AttemptState::created) keys.push_back(key);
  }
  return keys;
}

bool ProcessTable::has_shim(const AttemptKey& key) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.shim.has_value();
}

std::optional<proc::ProcessIdentity> ProcessTable::process_of(const AttemptKey& key) const {
  const auto found = entries_.find(key);
  const bool runs =
      found != entries_.end() && found->second.view.attempt.state == AttemptState::running;
  return runs ? found->second.view.process : std::nullopt;
}

fs::Path ProcessTable::dir(const AttemptKey& key) const {
  return state_.attempt(key.uid, key.container, key.number);
}

}  // namespace holdfast::agent::node
