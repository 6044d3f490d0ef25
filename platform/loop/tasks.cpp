#include "platform/loop/tasks.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <list>

#include "platform/log.h"
#include "platform/loop/cancellation.h"
#include "platform/loop/event.h"

namespace holdfast::loop {
namespace {

struct Child {
  std::string name;
  asio::cancellation_signal signal;
};
using Children = std::list<std::shared_ptr<Child>>;

// All groups of tasks of a loop, as an Asio service.
class LoopTasks final : public asio::execution_context::service {
 public:
  using key_type = LoopTasks;
  using Groups = std::list<const Children*>;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  explicit LoopTasks(asio::execution_context& loop) : service(loop) {}

  // Shared with the groups, which may outlive the loop.
  const std::shared_ptr<Groups> groups = std::make_shared<Groups>();

 private:
  void shutdown() override {}
};

asio::execution_context::id LoopTasks::id;

LoopTasks& tasks_of(asio::execution_context& loop) { return asio::use_service<LoopTasks>(loop); }

}  // namespace

struct Tasks::State {
  explicit State(asio::any_io_executor where)
      : executor(std::move(where)),
        groups(tasks_of(asio::query(executor, asio::execution::context)).groups),
        place(groups->insert(groups->end(), &children)),
        ended(executor) {}
  ~State() { groups->erase(place); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  asio::any_io_executor executor;
  Children children;
  std::shared_ptr<LoopTasks::Groups> groups;
  LoopTasks::Groups::iterator place;
  Event ended;
  bool cancelled = false;
};

namespace {

void report(const std::string& task, const std::exception_ptr& error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const boost::system::system_error& thrown) {
    if (is_cancellation(thrown.code())) return;
    log_error("task failed", {{"task", task}, {"error", thrown.what()}});
  } catch (const std::exception& thrown) {
    log_error("task failed", {{"task", task}, {"error", thrown.what()}});
  }
}

// A task that has left without ever waiting goes through the loop once more before it is reported.
// If it is cancelled meanwhile, possibly by what it destroys, Asio would throw out of the loop.
asio::awaitable<void> run(asio::awaitable<void> task) {
  co_await std::move(task);
  co_await asio::this_coro::throw_if_cancelled(false);
}

}  // namespace

Tasks::Tasks(asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

Tasks::~Tasks() {
  if (!detached_) cancel();
}

void Tasks::spawn(std::string name, asio::awaitable<void> task) {
  if (state_->cancelled) return;
  auto child = std::make_shared<Child>();
  child->name = std::move(name);
  const auto at = state_->children.insert(state_->children.end(), child);
  auto on_end = [state = state_, child, at](const std::exception_ptr& error) {
    report(child->name, error);
    state->children.erase(at);
    state->ended.notify_all();
  };
  asio::co_spawn(state_->executor, run(std::move(task)),
                 asio::bind_cancellation_slot(child->signal.slot(), std::move(on_end)));
}

void Tasks::cancel() {
  state_->cancelled = true;
  // On the loop: from elsewhere, Asio would post the signal of each task, and a task that ends
  // before its signal arrives has destroyed what receives it.
  asio::dispatch(state_->executor, [state = state_] {
    const auto children = state->children;  // A copy: a task may end during the loop.
    for (const auto& child : children) child->signal.emit(asio::cancellation_type::terminal);
  });
}

asio::awaitable<void> Tasks::join() { (void)co_await join_until(MonoTime::max()); }

asio::awaitable<bool> Tasks::join_until(MonoTime deadline) {
  const auto state = state_;
  while (!state->children.empty()) {
    const bool notified = co_await state->ended.wait_until(deadline);
    if (!notified) break;
  }
  const bool all_ended = state->children.empty();
  co_return all_ended;
}

std::size_t Tasks::size() const { return state_->children.size(); }

std::vector<std::string> running_tasks(asio::execution_context& loop) {
  std::vector<std::string> names;
  for (const Children* group : *tasks_of(loop).groups) {
    for (const auto& child : *group) names.push_back(child->name);
  }
  return names;
}

}  // namespace holdfast::loop
