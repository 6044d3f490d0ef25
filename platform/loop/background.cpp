#include "platform/loop/background.h"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "platform/loop/thread.h"
#include "platform/loop/workers.h"

namespace holdfast::loop {
namespace {

// What the threads of a loop share with it. They outlive the loop if they must.
struct Mailbox {
  std::mutex mutex;
  std::optional<asio::any_io_executor> loop;  // nothing: the loop has ended
};

// What is to be done when the threads of a loop have finished, as an Asio service. It stays on the
// loop's thread: a thread knows only a number.
class LoopBackground final : public asio::execution_context::service {
 public:
  using key_type = LoopBackground;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  explicit LoopBackground(asio::execution_context& loop) : service(loop) {}

  std::uint64_t add(const asio::any_io_executor& executor, std::function<void()> done) {
    if (!mailbox->loop) mailbox->loop = executor;
    waiting_.emplace(++last_, std::move(done));
    return last_;
  }
  void remove(std::uint64_t number) { waiting_.erase(number); }
  void finish(std::uint64_t number) {
    auto node = waiting_.extract(number);
    if (node) node.mapped()();
  }

  const std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();

 private:
  void shutdown() override {
    {
      const std::lock_guard lock(mailbox->mutex);
      mailbox->loop.reset();
    }
    waiting_.clear();
  }

  std::map<std::uint64_t, std::function<void()>> waiting_;
  std::uint64_t last_ = 0;
};

asio::execution_context::id LoopBackground::id;

void report(Mailbox& mailbox, LoopBackground& to, std::uint64_t number) {
  const std::lock_guard lock(mailbox.mutex);
  if (mailbox.loop) asio::post(*mailbox.loop, [&to, number] { to.finish(number); });
}

}  // namespace

Status run_in_background(const asio::any_io_executor& executor, std::function<void()> work,
                         std::function<void()> done) {
  auto& loop = asio::query(executor, asio::execution::context);
  auto& service = asio::use_service<LoopBackground>(loop);
  const std::uint64_t number = service.add(executor, std::move(done));
  if (are_threads_forbidden(loop)) {
    work();
    report(*service.mailbox, service, number);
    return {};
  }
  try {
    start_thread([work = std::move(work), mailbox = service.mailbox, &service, number]() mutable {
      work();
      work = nullptr;
      report(*mailbox, service, number);
    }).detach();
  } catch (const std::system_error& refused) {
    service.remove(number);
    return fail(Errc::exhausted, "start a thread", refused.code());
  }
  return {};
}

}  // namespace holdfast::loop
