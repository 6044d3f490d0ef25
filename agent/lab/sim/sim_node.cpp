#include "agent/lab/sim/sim_node.h"

#include <utility>

namespace holdfast::agent::lab::sim {
namespace {

// From the start of the machine until its services run.
constexpr Duration boot_time = std::chrono::seconds(20);

std::unique_ptr<Edge> make_edge(const SimNode::Parts& parts, const Site& site, Link& link,
                                const std::string& name, const NodeClock& clock, EdgeDisk& disk) {
  if (site.agent != NodeAgent::holdfast) return nullptr;
  return std::make_unique<Edge>(parts.engine, parts.server, parts.traffic, link, name, parts.edge,
                                clock, disk);
}

std::unique_ptr<DirectApi> make_direct(const SimNode::Parts& parts, const Site& site, Link& link,
                                       const std::string& name) {
  if (site.agent == NodeAgent::holdfast) return nullptr;
  return std::make_unique<DirectApi>(parts.engine, parts.server, parts.traffic, link, name);
}

KubeletApi& api_of(Edge* edge, DirectApi* direct) {
  if (edge != nullptr) return *edge;
  return *direct;
}

}  // namespace

SimNode::SimNode(const Parts& parts, const Site& site, std::string name, std::shared_ptr<Line> line)
    : engine_(parts.engine),
      site_(site),
      name_(std::move(name)),
      clock_(parts.engine),
      link_(parts.engine, std::move(line), site.link),
      disk_(parts.engine, name_),
      edge_(make_edge(parts, site, link_, name_, clock_, disk_)),
      direct_(make_direct(parts, site, link_, name_)),
      kubelet_(parts.engine, site_, name_, api_of(edge_.get(), direct_.get()), clock_,
               parts.profile_of, parts.observer) {}

void SimNode::power_on() {
  if (std::exchange(on_, true)) return;
  engine_.trace(name_, "on");
  const Duration boot = engine_.elapsed() == Duration::zero() ? Duration::zero() : boot_time;
  engine_.after(boot, [this] {
    if (!on_) return;
    start(Process::edge);
    start(Process::kubelet);
  });
}

void SimNode::power_off() {
  if (!std::exchange(on_, false)) return;
  engine_.trace(name_, "off");
  kubelet_.power_off();
  if (edge_) edge_->kill();
}

void SimNode::kill(Process process) {
  if (process == Process::edge && edge_) edge_->kill();
  if (process == Process::kubelet || process == Process::node_agent) kubelet_.kill();
}

void SimNode::start(Process process) {
  if (!on_) return;
  if (process == Process::edge && edge_) edge_->start();
  if (process == Process::kubelet || process == Process::node_agent) kubelet_.start();
}

void SimNode::set_disk_full(bool full) {
  disk_.full = full;
  disk_.outbox.set_full(full);
}

bool SimNode::may_be_quiet() const {
  return on_ && held_awake_ == 0 && edge_ && edge_->is_idle() && kubelet_.is_idle() &&
         site_.link.trace.empty() && !link_.is_cut() && !link_.is_lossy() && !disk_.full;
}

void SimNode::begin_quiet() {
  quiet_since_ = engine_.now();
  edge_->save_memory();
  link_.quiet().begin();
}

std::uint64_t SimNode::end_quiet() {
  link_.quiet().end();
  return static_cast<std::uint64_t>((engine_.now() - quiet_since_) / std::chrono::seconds(10));
}

bool SimNode::has_settled() const {
  if (!on_ || !kubelet_.is_running()) return false;
  if (!edge_) return true;
  return edge_->link_state() == "connected" && disk_.outbox.entries().empty();
}

}  // namespace holdfast::agent::lab::sim
