#include "platform/loop/thread.h"

#include <csignal>
#include <utility>

namespace holdfast::loop {
namespace {

// A new thread inherits what its creator has blocked.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::thread start_thread(std::function<void()> body) {
  const BlockedSignals blocked;
  return std::thread(std::move(body));
}

}  // namespace holdfast::loop
