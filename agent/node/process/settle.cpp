#include "agent/node/process/settle.h"

namespace holdfast::agent::node {
namespace {

using sync::runtime::AttemptState;
using sync::runtime::ContainerExit;

// Nothing if the time is of another boot.
std::optional<MonoTime> this_boot(const BootTime& time, const std::string& boot_id) {
  if (time.boot_id != boot_id || boot_id.empty()) return std::nullopt;
  return time.mono;
}

void fill_end(AttemptView& view, const ExitRecord& record) {
  view.attempt.state = AttemptState::ended;
  view.attempt.exit = record.exit;
  view.attempt.ended_wall = record.ended.wall;
  view.attempt.ended = this_boot(record.ended, proc::read_boot_id().value_or(""));
  view.process.reset();
  view.watched.reset();
}

void fill_start(AttemptView& view, const RunRecord& record) {
  view.attempt.state = AttemptState::running;
  view.attempt.started_wall = record.started.wall;
  view.attempt.started = this_boot(record.started, proc::read_boot_id().value_or(""));
  view.process = record.process;
}

Status write_end(const fs::Path& dir, const ExitRecord& record) {
  return fs::atomic_write(dir / exit_file, to_json(record));
}

ExitRecord end_now(const Clock& clock, ContainerExit::Kind kind, std::string message) {
  return {{kind, 0, std::move(message)}, BootTime::now(clock)};
}

// Shim and process are both gone. launch.json or run.json keeps any shim from starting it again, so
// it has ended even if exit.json cannot be written now.
void settle_dead(const Clock& clock, AttemptView& view, const fs::Path& dir) {
  const auto lock = fs::FileLock::take(dir / lock_file);
  if (!lock && lock.error().code == Errc::conflict) return;  // The shim is writing exit.json now.
  if (const auto known = read_exit(dir)) {
    fill_end(view, *known);
    return;
  }
  const ExitRecord record = end_now(clock, ContainerExit::Kind::unknown,
                                    "it ended while nobody watched: its exit status is unknown");
  (void)write_end(dir, record).has_value();
  fill_end(view, record);
}

// The content of launch.json or run.json.
struct Traces {
  std::optional<RunRecord> record;
  bool is_running = false;  // run.json: the program has begun
  bool is_damaged = false;  // there is a file that cannot be read
};

Traces read_traces(const fs::Path& dir) {
  // In this order, so that a rename between the two reads is not missed.
  auto launch = read_launch(dir);
  auto run = read_run(dir);
  Traces traces;
  traces.is_running = run.has_value();
  traces.is_damaged = (!run && run.error().code != Errc::not_found) ||
                      (!launch && launch.error().code != Errc::not_found);
  if (launch) traces.record = *std::move(launch);
  if (run) traces.record = *std::move(run);
  return traces;
}

void settle_launched(const Clock& clock, AttemptView& view, const fs::Path& dir,
                     const Traces& traces) {
  const RunRecord& record = *traces.record;
  view.watched = record.shim;
  if (proc::is_alive(record.shim)) {
    if (traces.is_running) fill_start(view, record);
    return;
  }
  fill_start(view, record);
  view.watched = record.process;
  if (proc::is_alive(record.process)) return;
  settle_dead(clock, view, dir);
}

// Called with the attempt's lock held, so that no shim can start.
void settle_unattended(const Clock& clock, AttemptView& view, const fs::Path& dir,
                       bool is_damaged) {
  if (const auto known = read_exit(dir)) return fill_end(view, *known);
  const ExitRecord record =
      is_damaged ? end_now(clock, ContainerExit::Kind::unknown, "its run.json cannot be read")
                 : end_now(clock, ContainerExit::Kind::never_began, "nobody was left to start it");
  // A late shim may start it until exit.json is written, so it has not ended before that.
  if (write_end(dir, record)) fill_end(view, record);
}

void settle_unbegun(const Clock& clock, AttemptView& view, const fs::Path& dir,
                    const std::optional<proc::ProcessIdentity>& shim) {
  view.watched = shim;
  if (shim && proc::is_alive(*shim)) return;
  view.watched.reset();
  Traces traces;
  {
    const auto lock = fs::FileLock::take(dir / lock_file);
    if (!lock) return;
    traces = read_traces(dir);
    if (!traces.record) return settle_unattended(clock, view, dir, traces.is_damaged);
  }
  // The shim started the program and died between the two reads.
  settle_launched(clock, view, dir, traces);
}

}  // namespace

AttemptView settle_attempt(const Clock& clock, const fs::Path& dir, std::int32_t number,
                           const std::optional<proc::ProcessIdentity>& shim) {
  AttemptView view;
  view.attempt.number = number;
  // Without attempt.json the defaults apply: no delay, no restarts. The container then restarts
  // sooner.
  const AttemptRecord record = read_attempt(dir).value_or(AttemptRecord());
  view.attempt.restarts = record.restarts;
  view.attempt.next_delay = record.next_delay;

  // Read before exit.json: a missing exit.json then means that the attempt had not ended when its
  // traces were read.
  const Traces traces = read_traces(dir);
  if (const auto exit = read_exit(dir)) {
    if (traces.record) fill_start(view, *traces.record);
    fill_end(view, *exit);
  } else if (traces.record) {
    settle_launched(clock, view, dir, traces);
  } else {
    settle_unbegun(clock, view, dir, shim);
  }
  return view;
}

}  // namespace holdfast::agent::node
