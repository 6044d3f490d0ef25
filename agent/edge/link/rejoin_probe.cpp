// The part of Rejoin that renews the lease, by which it probes the link.

#include "agent/edge/link/rejoin.h"
#include "platform/log.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

asio::awaitable<void> Rejoin::maintain_link() {
  for (;;) {
    if (uplink_.link().state() == sync::autonomy::LinkState::rejoining) {
      co_await rejoin();
      continue;
    }
    const MonoTime due = uplink_.link().probe_due();
    if (clock_.mono() < due) {
      (void)co_await uplink_.changed().wait_until(due);
      continue;
    }
    co_await probe();
  }
}

asio::awaitable<void> Rejoin::probe() {
  uplink_.probing();
  const std::uint64_t changes = uplink_.network_changes();
  const auto attempt = std::make_shared<loop::Tasks>(co_await asio::this_coro::executor);
  probe_ = attempt;
  has_probed_ = false;
  attempt->spawn("probe", renew_lease());
  while (!has_probed_ && uplink_.network_changes() == changes) co_await uplink_.changed().wait();
  attempt->cancel();
  co_await attempt->join();
}

asio::awaitable<void> Rejoin::renew_lease() {
  // Before a rejoin has listed it again, the cached Node may be one that the cloud has replaced.
  if (uplink_.link().state() == sync::autonomy::LinkState::connected) {
    const CachedNode node = cached_node();
    if (node.object != nullptr) lease_.set_node_uid(node.object->uid);
  }
  const Status renewed = co_await lease_.renew(uplink_);
  if (renewed) uplink_.renewed(lease_.renewed_at());
  note_lease(renewed);
  look_for_setback();
  has_probed_ = true;
  uplink_.changed().notify_all();
}

void Rejoin::note_lease(const Status& renewed) {
  if (!renewed) log_debug("lease not renewed", {{"error", renewed.error()}});
  // An outage is told of elsewhere. A node that starts for the first time has no Node yet.
  if (uplink_.link().state() != sync::autonomy::LinkState::connected) return;
  if (!renewed && renewed.error().code == Errc::not_found) return;
  const bool late = !renewed && renewed.error().code == Errc::timeout;
  if (late && clock_.mono() - uplink_.link().renewed_at() < rejoin_limits.lease_late) return;
  std::string problem = renewed ? std::string() : renewed.error().what;
  if (problem == lease_problem_) return;
  if (renewed) {
    log_info("the node's lease is renewed again");
  } else {
    log_warn("the API server does not renew the node's lease: without it the node becomes NotReady",
             {{"error", renewed.error()}});
  }
  lease_problem_ = std::move(problem);
}

void Rejoin::look_for_setback() {
  const auto setback = lease_.take_setback();
  if (setback) note_setback(*setback);
}

void Rejoin::note_setback(const NodeLease::Setback& setback) {
  log_warn(
      "the API server's versions went back: its data was replaced by older data; all lists are "
      "read again",
      {{"from", setback.from}, {"to", setback.to}});
  offline_store_.record("cloud", "nodes/" + settings_.node_name,
                        "the API server's versions went back from " + std::to_string(setback.from) +
                            " to " + std::to_string(setback.to) +
                            ": its data was replaced by older data; all lists are read again");
  reflectors_.list_all_again();
}

asio::awaitable<void> Rejoin::probe_servers() {
  std::string target = lease_.target();
  co_await uplink_.probe_servers(std::move(target));
}

}  // namespace holdfast::agent
