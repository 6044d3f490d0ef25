#include "agent/edge/forward/uplink.h"
#include "platform/log.h"
#include "platform/net/network_changes.h"

namespace holdfast::agent {

asio::awaitable<void> Uplink::probe_servers(std::string target) {
  for (;;) {
    const auto due = machine_.take_probe(clock_.mono());
    if (!due) {
      (void)co_await servers_changed_.wait_until(servers().probe_due());
      continue;
    }
    const SentRequest sent{.attempt = {.began = clock_.mono(),
                                       .server = *due,
                                       .limit = path(*due).limit(),
                                       .is_heartbeat = true,
                                       .has_own_credentials = true},
                           .target = target,
                           .traffic = sync::autonomy::UplinkClass::heartbeat,
                           .received_before = bytes_->received_from(*due)};
    ApiRequest probe{.target = target};
    bytes_->sent(sent.traffic, size_of(probe));
    auto outcome = co_await client_.send(std::move(probe), false, sent.deadline(), due);
    if (outcome) bytes_->received(sent.traffic, agent::size_of(*outcome));
    (void)record_outcome(sent, std::move(outcome));
  }
}

asio::awaitable<void> Uplink::follow_network() {
  const auto changes = net::NetworkChanges::open(co_await asio::this_coro::executor);
  if (!changes) {
    log_info("changes of this machine's network are not seen", {{"error", changes.error()}});
    co_return;
  }
  for (;;) {
    const Status changed = co_await (*changes)->next();
    if (!changed) {
      log_info("changes of this machine's network are no longer seen",
               {{"error", changed.error()}});
      co_return;
    }
    take(sync::autonomy::uplink::NetworkBetter{});
  }
}

}  // namespace holdfast::agent
