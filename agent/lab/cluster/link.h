// A link of the lab: a fault proxy that is cut and degraded in the words of a scenario.
//
// Cuts may overlap, as in the simulator: each one is healed with the same values, or all at once,
// which also ends degradations.
// The rate of a quality applies to each connection, and its loss is not played: TCP repeats what is
// lost, so that a proxy of streams could only delay it.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "agent/lab/faults/fault_proxy.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::cluster {

namespace asio = boost::asio;

// The cuts that act on a link: how many of each kind.
struct Cuts {
  int up = 0;
  int down = 0;
  int refusals = 0;
  bool operator==(const Cuts&) const = default;
};

// The toxics of a link with these cuts and qualities, in the units of toxiproxy.
[[nodiscard]] std::vector<faults::Toxic> toxics_of(const Cuts& cuts, const LinkQuality& up,
                                                   const LinkQuality& down);

class Link {
 public:
  // Errors: those of FaultProxy::open().
  [[nodiscard]] static Result<std::unique_ptr<Link>> open(const asio::any_io_executor& executor,
                                                          net::HostPort server,
                                                          const LinkProfile& profile,
                                                          faults::FaultProxySettings settings);

  // A second proxy for connections from the server to the node, which is damaged like the first
  // one. `node` is where they lead. Errors: those of FaultProxy::open().
  [[nodiscard]] Status open_way_in(const asio::any_io_executor& executor, net::HostPort node,
                                   faults::FaultProxySettings settings);

  // Errors of all: unavailable, if another program took the port while the link refused.
  [[nodiscard]] Status cut(Direction direction, CutKind kind);
  [[nodiscard]] Status heal(Direction direction, CutKind kind);
  // Ends all cuts, and restores the usual quality.
  [[nodiscard]] Status heal_all();
  // `is_usual` says that this is the link's own quality, to which it returns.
  [[nodiscard]] Status set_quality(const LinkQuality& up, const LinkQuality& down, bool is_usual);
  [[nodiscard]] Status restore_quality() { return set_quality(usual_up_, usual_down_, true); }

  [[nodiscard]] bool is_cut() const { return cuts_ != Cuts{}; }
  // "cut", "degraded" or "", as in NodeResult::link.
  [[nodiscard]] std::string_view state() const;
  // Bytes that were delivered to the server and back.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint16_t port() const { return proxy_->port(); }
  [[nodiscard]] std::uint16_t way_in_port() const { return way_in_ ? way_in_->port() : 0; }
  asio::awaitable<void> stop();

 private:
  explicit Link(std::unique_ptr<faults::FaultProxy> proxy) : proxy_(std::move(proxy)) {}
  [[nodiscard]] Status apply() { return set_toxics(cuts_); }
  [[nodiscard]] Status set_toxics(const Cuts& cuts);

  std::unique_ptr<faults::FaultProxy> proxy_;
  std::unique_ptr<faults::FaultProxy> way_in_;  // may be null
  Cuts cuts_;
  LinkQuality up_;
  LinkQuality down_;
  LinkQuality usual_up_;
  LinkQuality usual_down_;
  bool is_degraded_ = false;
};

}  // namespace holdfast::agent::lab::cluster
