#include "agent/lab/sim/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace holdfast::agent::lab::sim {
namespace {

// The time after which TCP repeats a lost segment: its smallest timeout in Linux.
constexpr Duration repeat_after = std::chrono::milliseconds(200);
// TCP repeats ever more slowly, so a connection that survives a cut goes on after a pause.
constexpr Duration repeat_max = std::chrono::seconds(30);

bool includes(Direction direction, Way way) {
  if (direction == Direction::both) return true;
  return (direction == Direction::up) == (way == Way::up);
}

}  // namespace

Link::Link(Engine& engine, std::shared_ptr<Line> line, const LinkProfile& profile)
    : engine_(engine),
      line_(std::move(line)),
      quality_{profile.up, profile.down},
      usual_quality_(quality_) {}

Link::ConnectionPtr Link::connect() {
  auto made = std::make_shared<Connection>();
  if (connections_.size() >= clean_at_) {
    std::erase_if(connections_, [](const auto& each) { return each.expired(); });
    clean_at_ = 2 * connections_.size() + 8;
  }
  connections_.push_back(made);
  return made;
}

void Link::send(Way way, const ConnectionPtr& connection, std::size_t bytes, Task arrive) {
  if (connection->closed) return;
  if (is_cut(way)) {
    held_.push_back({way, connection, bytes, std::move(arrive)});
    return;
  }
  const LinkQuality& quality = quality_[index(way)];
  const std::size_t on_wire = bytes + overhead;
  bytes_[index(way)] += on_wire;
  MonoTime begin = engine_.now();
  if (quality.rate > 0) {
    begin = std::max(begin, line_->free_at[index(way)]);
    const auto seconds = static_cast<double>(on_wire) / static_cast<double>(quality.rate);
    begin += std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    line_->free_at[index(way)] = begin;
  }
  Random& random = this->random(Draw::message);
  Duration delay = quality.latency + random.jitter(quality.jitter);
  while (quality.loss > 0 && random.unit() < quality.loss) delay += repeat_after;
  const MonoTime when = std::max(begin + delay, connection->last[index(way)]);
  connection->last[index(way)] = when;
  engine_.at(when, [connection, arrive = std::move(arrive)] {
    if (!connection->closed) arrive();
  });
}

void Link::cut(Direction direction, CutKind kind) {
  for (const Way way : {Way::up, Way::down}) {
    if (!includes(direction, way)) continue;
    if (cuts_[index(way)]++ == 0) cut_since_[index(way)] = engine_.now();
  }
  refusals_ += kind == CutKind::refuse ? 1 : 0;
  if (kind != CutKind::black_hole) reset_all();
}

void Link::heal(Direction direction, CutKind kind) {
  if (kind == CutKind::refuse) refusals_ = std::max(0, refusals_ - 1);
  for (const Way way : {Way::up, Way::down}) {
    if (!includes(direction, way) || cuts_[index(way)] == 0) continue;
    if (--cuts_[index(way)] == 0) release(way);
  }
}

void Link::heal_all() {
  refusals_ = 0;
  for (const Way way : {Way::up, Way::down}) {
    if (std::exchange(cuts_[index(way)], 0) > 0) release(way);
  }
  restore_quality();
}

void Link::release(Way way) {
  const Duration lasted = engine_.now() - cut_since_[index(way)];
  const Duration pause = random(Draw::repeat).jitter(std::min(lasted, repeat_max));
  auto all = std::exchange(held_, {});
  for (Held& held : all) {
    if (held.way != way) {
      held_.push_back(std::move(held));
      continue;
    }
    MonoTime& last = held.connection->last[index(way)];
    last = std::max(last, engine_.now() + pause);
    send(way, held.connection, held.bytes, std::move(held.arrive));
  }
}

void Link::reset_all() {
  for (const auto& weak : std::exchange(connections_, {})) {
    const ConnectionPtr connection = weak.lock();
    if (!connection || connection->closed) continue;
    connection->closed = true;
    if (connection->on_reset) engine_.after({}, std::exchange(connection->on_reset, {}));
  }
}

void Link::use_own_random(std::uint64_t seed) {
  seed_ = seed;
  Random seeds(seed);
  for (std::size_t draw = 0; draw < draws; ++draw) own_random_.emplace_back(seeds.next());
}

Random& Link::random(Draw draw) {
  return own_random_.empty() ? engine_.random() : own_random_[static_cast<std::size_t>(draw)];
}

void Link::restart_random(Draw draw) {
  if (own_random_.empty()) return;
  const auto time = static_cast<std::uint64_t>(engine_.elapsed().count());
  const auto at = static_cast<std::size_t>(draw);
  own_random_[at] = Random(Random(seed_ + at).next() ^ time);
}

void Link::set_quality(const LinkQuality& up, const LinkQuality& down, bool is_usual) {
  quality_ = {up, down};
  if (is_usual) usual_quality_ = quality_;
  is_degraded_ = !is_usual;
}

void Link::restore_quality() {
  quality_ = usual_quality_;
  is_degraded_ = false;
}

std::string_view Link::state() const {
  if (is_cut()) return "cut";
  return is_degraded_ ? "degraded" : "";
}

}  // namespace holdfast::agent::lab::sim
