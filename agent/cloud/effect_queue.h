// The queue of a controller's effects: the most urgent are performed first, a limited number at a
// time, and never two at once for one object. Effects of one object and urgency keep their order.
//
// Threading: the loop's thread only.

#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "platform/check.h"
#include "platform/loop/tasks.h"
#include "sync/control/effect_order.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// Performs the effects of one controller: on the API server, or in a fake.
template <class Effect, class Outcome>
class EffectPerformer {
 public:
  virtual ~EffectPerformer() = default;
  // Performs one effect and returns its outcome. Throws only if it is cancelled.
  virtual asio::awaitable<Outcome> perform(Effect effect) = 0;
};

struct EffectLimits {
  std::size_t at_once = 32;    // effects under way
  std::size_t reports = 1000;  // waiting events; more are dropped, as upstream
};

// Effect has `sync::control::EffectOrder order_of(const Effect&)`, found by argument-dependent
// lookup.
template <class Effect, class Outcome>
class EffectQueue {
 public:
  using Performer = EffectPerformer<Effect, Outcome>;
  using Settled = std::function<void(const Effect&, const Outcome&)>;

  // `performer` and what `settled` refers to must outlive this.
  EffectQueue(asio::any_io_executor executor, Performer& performer, Settled settled,
              EffectLimits limits)
      : performer_(performer),
        settled_(std::move(settled)),
        limits_(limits),
        tasks_(std::move(executor)) {
    CHECK(limits_.at_once > 0);
    slots_->queue = this;
  }
  ~EffectQueue() { slots_->queue = nullptr; }
  EffectQueue(const EffectQueue&) = delete;
  EffectQueue& operator=(const EffectQueue&) = delete;

  void add(std::vector<Effect> effects) {
    for (Effect& effect : effects) {
      const sync::control::EffectOrder order = order_of(effect);
      auto& waiting = waiting_.at(order.urgency);
      if (order.is_report && waiting.size() >= limits_.reports) {
        ++reports_dropped_;
        continue;
      }
      waiting.push_back(std::move(effect));
    }
    pump();
  }

  // Drops waiting effects, waits for those under way, and cancels them at `deadline`.
  asio::awaitable<void> stop(MonoTime deadline) {
    for (auto& waiting : waiting_) waiting.clear();
    limits_.at_once = 0;
    const bool ended = co_await tasks_.join_until(deadline);
    if (ended) co_return;
    tasks_.cancel();
    co_await tasks_.join();
  }

  [[nodiscard]] std::size_t waiting() const {
    std::size_t count = 0;
    for (const auto& waiting : waiting_) count += waiting.size();
    return count;
  }
  [[nodiscard]] std::size_t under_way() const { return slots_->under_way; }
  [[nodiscard]] std::size_t reports_dropped() const { return reports_dropped_; }

 private:
  // The effects under way. Shared with their tasks, because a cancelled task may end after the
  // queue was destroyed.
  struct Slots {
    std::unordered_set<std::string> objects = {};  // being written now
    std::size_t under_way = 0;
    EffectQueue* queue = nullptr;  // null once it was destroyed
  };

  // Holds one of the `at_once` places and the object that is being written ("": none). The
  // destructor frees both and starts waiting effects, also after an exception or a cancellation.
  class Slot {
   public:
    Slot(std::shared_ptr<Slots> slots, std::string object)
        : slots_(std::move(slots)), object_(std::move(object)) {
      ++slots_->under_way;
      if (!object_.empty()) slots_->objects.insert(object_);
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() {
      free();
      if (slots_->queue != nullptr) slots_->queue->pump();
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

  void pump() {
    Effect effect;
    while (slots_->under_way < limits_.at_once && take(effect)) {
      auto slot = std::make_unique<Slot>(slots_, order_of(effect).object);
      tasks_.spawn("effect", perform(slots_, std::move(slot), std::move(effect)));
    }
  }

  // Takes the most urgent effect whose object is not being written.
  bool take(Effect& effect) {
    for (auto& waiting : waiting_) {
      const auto free = std::find_if(waiting.begin(), waiting.end(), [this](const auto& one) {
        return !slots_->objects.contains(order_of(one).object);
      });
      if (free == waiting.end()) continue;
      effect = std::move(*free);
      waiting.erase(free);
      return true;
    }
    return false;
  }

  // `slots` are those of this queue, which may be destroyed before the task begins.
  asio::awaitable<void> perform(std::shared_ptr<Slots> slots, std::unique_ptr<Slot> slot,
                                Effect effect) {
    if (slots->queue == nullptr) co_return;
    const Outcome outcome = co_await performer_.perform(effect);
    slot->free();
    if (slots->queue != nullptr) settled_(effect, outcome);  // Otherwise `this` was destroyed.
  }

  Performer& performer_;
  Settled settled_;
  EffectLimits limits_;
  std::array<std::deque<Effect>, sync::control::urgencies> waiting_;
  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::size_t reports_dropped_ = 0;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
