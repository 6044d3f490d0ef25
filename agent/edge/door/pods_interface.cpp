#include "agent/edge/door/pods_interface.h"

#include "platform/check.h"
#include "platform/log.h"
#include "platform/loop/timer.h"

namespace holdfast::agent {
namespace {

net::DummyInterface wanted_by(const IdentityOptions& options) {
  const auto address = pods_address(options);
  CHECK(address);
  return {options.dummy_if_name, asio::ip::make_address(address->host)};
}

}  // namespace

PodsInterface::PodsInterface(const IdentityOptions& options,
                             std::unique_ptr<net::Interfaces> interfaces, const Clock& clock)
    : wanted_(wanted_by(options)), interfaces_(std::move(interfaces)), clock_(clock) {}

bool PodsInterface::ensure() {
  const auto done = net::ensure(*interfaces_, wanted_);
  good_ = done.has_value();
  if (!done) {
    const std::string& why = done.error().what;
    // The same failure is logged only once.
    if (why != failure_) {
      log_error("interface for pods not created, serving without it",
                {{"interface", wanted_.name}, {"error", done.error()}});
    }
    failure_ = why;
    return false;
  }
  failure_.clear();
  if (*done == net::DummyChange::none) return true;
  log_info("interface for pods", {{"interface", wanted_.name},
                                  {"address", wanted_.address.to_string()},
                                  {"made", *done == net::DummyChange::made}});
  return true;
}

asio::awaitable<void> PodsInterface::keep(std::function<void()> on_change) {
  constexpr auto interval = std::chrono::seconds(60);  // YurtHub's SyncNetworkPeriod
  for (;;) {
    const MonoTime due = clock_.mono() + interval;
    co_await loop::sleep_until(due);
    if (clock_.mono() < due) continue;  // Cancelled: the next await ends this coroutine.
    const bool was_good = good_;
    if (ensure() && !was_good) on_change();
  }
}

void PodsInterface::remove() {
  const Status removed = net::remove(*interfaces_, wanted_);
  if (!removed) log_warn("interface for pods not removed", {{"error", removed.error()}});
}

}  // namespace holdfast::agent
