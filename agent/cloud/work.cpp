#include "agent/cloud/work.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "platform/check.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

namespace {

constexpr std::size_t event_urgency = 5;

// Taints go before statuses, so that the taint of a lost node, which follows from its status,
// is not written after the statuses of all other lost nodes. Then pods; events last.
std::size_t urgency_of(const lifecycle::Action& action) {
  if (std::holds_alternative<lifecycle::PatchTaints>(action)) return 0;
  if (std::holds_alternative<lifecycle::UpdateNodeStatus>(action)) return 1;
  if (std::holds_alternative<lifecycle::MarkPodNotReady>(action)) return 3;
  if (std::holds_alternative<lifecycle::BindPod>(action)) return 3;
  if (std::holds_alternative<lifecycle::PatchLabels>(action)) return 4;
  if (std::holds_alternative<lifecycle::AskProvider>(action)) return 4;
  if (std::holds_alternative<lifecycle::RecordEvent>(action)) return event_urgency;
  return 2;
}

// The key of the node or pod that the action writes; empty if it writes neither.
std::string object_of(const lifecycle::Action& action) {
  return std::visit(
      [](const auto& one) -> std::string {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, lifecycle::AskProvider>) {
          return {};
        } else if constexpr (requires { one.pod.key(); }) {
          return one.pod.key();
        } else if constexpr (requires { one.node; }) {
          return one.node;
        } else {
          return {};
        }
      },
      action);
}

}  // namespace

Work::Work(asio::any_io_executor executor, ClusterWriter& writer, Settled settled,
           WorkLimits limits)
    : writer_(writer), settled_(std::move(settled)), limits_(limits), tasks_(std::move(executor)) {
  CHECK(limits_.at_once > 0);
  slots_->work = this;
}

Work::~Work() { slots_->work = nullptr; }

void Work::add(lifecycle::Actions actions) {
  for (lifecycle::Action& action : actions) {
    const std::size_t urgency = urgency_of(action);
    if (urgency == event_urgency && queues_[urgency].size() >= limits_.events) {
      ++events_dropped_;
      continue;
    }
    queues_[urgency].push_back(std::move(action));
  }
  pump();
}

asio::awaitable<void> Work::stop(MonoTime deadline) {
  for (auto& queue : queues_) queue.clear();
  // A write that ends must not start another one.
  limits_.at_once = 0;
  const bool ended = co_await tasks_.join_until(deadline);
  if (ended) co_return;
  tasks_.cancel();
  co_await tasks_.join();
}

std::size_t Work::waiting() const {
  std::size_t count = 0;
  for (const auto& queue : queues_) count += queue.size();
  return count;
}

void Work::pump() {
  lifecycle::Action action;
  while (slots_->under_way < limits_.at_once && take(action)) {
    ++slots_->under_way;
    tasks_.spawn("write", perform(slots_, std::move(action)));
  }
}

// The most urgent action whose object is not being written.
bool Work::take(lifecycle::Action& action) {
  for (auto& queue : queues_) {
    const auto free = std::find_if(queue.begin(), queue.end(), [this](const auto& one) {
      return !slots_->objects.contains(object_of(one));
    });
    if (free == queue.end()) continue;
    action = std::move(*free);
    queue.erase(free);
    const std::string object = object_of(action);
    if (!object.empty()) slots_->objects.insert(object);
    return true;
  }
  return false;
}

// RAII: counts one write as under way and marks its object as being written. The destructor frees
// both and starts waiting writes, also if the write ends by an exception or a cancellation.
class Work::Slot {
 public:
  Slot(std::shared_ptr<Slots> slots, std::string object)
      : slots_(std::move(slots)), object_(std::move(object)) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() {
    free();
    if (slots_->work != nullptr) slots_->work->pump();
  }

  void free() {
    if (!held_) return;
    held_ = false;
    --slots_->under_way;
    slots_->objects.erase(object_);
  }

 private:
  std::shared_ptr<Slots> slots_;
  std::string object_;
  bool held_ = true;
};

asio::awaitable<void> Work::perform(std::shared_ptr<Slots> slots, lifecycle::Action action) {
  Slot slot(slots, object_of(action));
  if (slots->work == nullptr) co_return;
  // `this` may be destroyed while the write is under way; `slots` stays valid.
  const lifecycle::Outcome outcome = co_await writer_.perform(action);
  slot.free();
  if (slots->work != nullptr) settled_(action, outcome);  // Otherwise `this` is destroyed.
}

}  // namespace holdfast::agent
