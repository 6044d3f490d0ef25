#include "platform/loop/workers.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/query.hpp>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "platform/loop/thread.h"

namespace holdfast::loop {
namespace {

// Marks a loop without threads, as an Asio service.
class WithoutThreads final : public asio::execution_context::service {
 public:
  using key_type = WithoutThreads;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  explicit WithoutThreads(asio::execution_context& loop) : service(loop) {}

 private:
  void shutdown() override {}
};

asio::execution_context::id WithoutThreads::id;

std::size_t allowed(const asio::any_io_executor& executor, std::size_t threads) {
  auto& loop = asio::query(executor, asio::execution::context);
  return are_threads_forbidden(loop) ? 0 : threads;
}

}  // namespace

void forbid_threads(asio::execution_context& loop) { asio::make_service<WithoutThreads>(loop); }

bool are_threads_forbidden(asio::execution_context& loop) {
  return asio::has_service<WithoutThreads>(loop);
}

struct Workers::State {
  explicit State(std::size_t its_threads) : wanted(its_threads) {}

  void start();
  void serve();
  void do_pieces(const std::function<void(std::size_t)>& todo);

  const std::size_t wanted;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable begun;
  std::condition_variable ended;
  const std::function<void(std::size_t)>* work = nullptr;  // guarded by the mutex, up to `over`
  std::uint64_t round = 0;
  std::size_t busy = 0;
  bool over = false;
  std::size_t count = 0;  // set before a round begins and then only read
  std::atomic<std::size_t> next = 0;
};

void Workers::State::start() {
  while (threads.size() < wanted) threads.push_back(start_thread([this] { serve(); }));
}

void Workers::State::serve() {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex);
  for (;;) {
    begun.wait(lock, [this, &seen] { return over || round != seen; });
    if (over) return;
    seen = round;
    // A thread that wakes late may find that the round has ended.
    if (work == nullptr) continue;
    const auto& todo = *work;
    ++busy;
    lock.unlock();
    do_pieces(todo);
    lock.lock();
    if (--busy == 0) ended.notify_all();
  }
}

void Workers::State::do_pieces(const std::function<void(std::size_t)>& todo) {
  for (std::size_t i = next++; i < count; i = next++) todo(i);
}

std::size_t Workers::processors() { return std::max(1U, std::thread::hardware_concurrency()); }

Workers::Workers(const asio::any_io_executor& executor, std::size_t threads)
    : state_(std::make_unique<State>(allowed(executor, threads))) {}

Workers::~Workers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
  }
  state_->begun.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void Workers::for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (state_->threads.size() < state_->wanted) state_->start();
  {
    const std::lock_guard lock(state_->mutex);
    state_->count = count;
    state_->next = 0;
    state_->work = &work;
    ++state_->round;
  }
  state_->begun.notify_all();
  state_->do_pieces(work);
  std::unique_lock lock(state_->mutex);
  state_->work = nullptr;
  state_->ended.wait(lock, [this] { return state_->busy == 0; });
}

}  // namespace holdfast::loop
