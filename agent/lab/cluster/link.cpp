#include "agent/lab/cluster/link.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::agent::lab::cluster {
namespace {

using faults::Stream;
using faults::Toxic;
using faults::ToxicType;

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Toxic made(ToxicType type, Stream stream) {
  Toxic toxic = Toxic::of(type);
  toxic.stream = stream;
  return toxic;
}

// A toxic's jitter is added or subtracted, a quality's is only added.
void add_quality(const LinkQuality& quality, Stream stream, std::vector<Toxic>& toxics) {
  if (quality.latency + quality.jitter > Duration::zero()) {
    Toxic latency = made(ToxicType::latency, stream);
    CHECK(latency.set("latency", milliseconds(quality.latency + quality.jitter / 2)));
    CHECK(latency.set("jitter", milliseconds(quality.jitter / 2)));
    toxics.push_back(latency);
  }
  if (quality.rate > 0) {
    Toxic bandwidth = made(ToxicType::bandwidth, stream);
    CHECK(bandwidth.set("rate", std::max<std::int64_t>(1, quality.rate / 1000)));
    toxics.push_back(bandwidth);
  }
}

}  // namespace

std::vector<Toxic> toxics_of(const Cuts& cuts, const LinkQuality& up, const LinkQuality& down) {
  std::vector<Toxic> toxics;
  add_quality(up, Stream::upstream, toxics);
  add_quality(down, Stream::downstream, toxics);
  const bool cuts_up = cuts.up > 0;
  const bool cuts_down = cuts.down > 0;
  if (cuts_up || cuts_down) {
    const Stream stream = cuts_up && cuts_down ? Stream::both
                          : cuts_up            ? Stream::upstream
                                               : Stream::downstream;
    toxics.push_back(made(ToxicType::black_hole, stream));
  }
  if (cuts.refusals > 0) toxics.push_back(Toxic::of(ToxicType::refuse));
  for (Toxic& toxic : toxics) {
    auto complete = faults::complete(toxic);
    CHECK(complete);
    toxic = *std::move(complete);
  }
  return toxics;
}

Result<std::unique_ptr<Link>> Link::open(const asio::any_io_executor& executor,
                                         net::HostPort server, const LinkProfile& profile,
                                         faults::FaultProxySettings settings) {
  TRY(auto proxy,
      faults::FaultProxy::open(executor, {"127.0.0.1", 0}, std::move(server), std::move(settings)));
  std::unique_ptr<Link> link(new Link(std::move(proxy)));
  if (auto set = link->set_quality(profile.up, profile.down, true); !set) return fail(set.error());
  return link;
}

Status Link::open_way_in(const asio::any_io_executor& executor, net::HostPort node,
                         faults::FaultProxySettings settings) {
  TRY(way_in_,
      faults::FaultProxy::open(executor, {"127.0.0.1", 0}, std::move(node), std::move(settings)));
  return apply();
}

Status Link::cut(Direction direction, CutKind kind) {
  if (kind == CutKind::reset) {
    // Resets the connections; the black hole follows.
    if (auto set = set_toxics({.up = 0, .down = 0, .refusals = 1}); !set) return set;
  }
  if (kind == CutKind::refuse) {
    ++cuts_.refusals;
  } else {
    cuts_.up += direction != Direction::down ? 1 : 0;
    cuts_.down += direction != Direction::up ? 1 : 0;
  }
  return apply();
}

Status Link::heal(Direction direction, CutKind kind) {
  if (kind == CutKind::refuse) {
    cuts_.refusals = std::max(0, cuts_.refusals - 1);
  } else {
    if (direction != Direction::down) cuts_.up = std::max(0, cuts_.up - 1);
    if (direction != Direction::up) cuts_.down = std::max(0, cuts_.down - 1);
  }
  return apply();
}

Status Link::heal_all() {
  cuts_ = {};
  return restore_quality();
}

Status Link::set_quality(const LinkQuality& up, const LinkQuality& down, bool is_usual) {
  up_ = up;
  down_ = down;
  if (is_usual) {
    usual_up_ = up_;
    usual_down_ = down_;
  }
  is_degraded_ = !is_usual;
  return apply();
}

Status Link::set_toxics(const Cuts& cuts) {
  if (auto set = proxy_->set(toxics_of(cuts, up_, down_)); !set || !way_in_) return set;
  // What a connection from the server sends upstream goes down to the node.
  const Cuts turned{.up = cuts.down, .down = cuts.up, .refusals = cuts.refusals};
  return way_in_->set(toxics_of(turned, down_, up_));
}

asio::awaitable<void> Link::stop() {
  co_await proxy_->stop();
  if (way_in_) co_await way_in_->stop();
}

std::string_view Link::state() const {
  if (is_cut()) return "cut";
  return is_degraded_ ? "degraded" : "";
}

std::uint64_t Link::bytes() const {
  return proxy_->traffic(Stream::upstream).sent + proxy_->traffic(Stream::downstream).sent;
}

}  // namespace holdfast::agent::lab::cluster
