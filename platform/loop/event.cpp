#include "platform/loop/event.h"

#include "platform/loop/cancellation.h"

namespace holdfast::loop {
namespace {

// Removes a waiter from the list however its wait ends, also by cancellation.
template <class Waiters>
class Listed {
 public:
  Listed(Waiters& waiters, typename Waiters::value_type waiter)
      : waiters_(waiters), at_(waiters.insert(waiters.end(), waiter)) {}
  ~Listed() { waiters_.erase(at_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  Waiters& waiters_;
  typename Waiters::iterator at_;
};

}  // namespace

void Event::notify_all() {
  for (Waiter* waiter : waiters_) {
    waiter->notified = true;
    waiter->timer.cancel();
  }
}

asio::awaitable<bool> Event::wait_until(MonoTime deadline) {
  Waiter waiter{Timer(executor_, deadline)};
  const Listed listed(waiters_, &waiter);
  boost::system::error_code ec;
  co_await waiter.timer.async_wait(into(ec));
  leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  co_return waiter.notified;
}

asio::awaitable<void> Event::wait() { (void)co_await wait_until(MonoTime::max()); }

}  // namespace holdfast::loop
