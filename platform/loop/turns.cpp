#include "platform/loop/turns.h"

#include <boost/asio/post.hpp>
#include <deque>
#include <utility>

namespace holdfast::loop {

struct Turns::State {
  explicit State(asio::any_io_executor where) : executor(std::move(where)) {}

  asio::any_io_executor executor;
  std::deque<std::function<void()>> waiting;
  bool turn_is_taken = false;
};

Turns::Turns(asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

void Turns::add(std::function<void()> work) {
  state_->waiting.push_back(std::move(work));
  if (!state_->turn_is_taken) begin_next(state_);
}

void Turns::begin_next(const std::shared_ptr<State>& state) {
  state->turn_is_taken = !state->waiting.empty();
  if (state->waiting.empty()) return;
  const std::function<void()> work = std::move(state->waiting.front());
  state->waiting.pop_front();
  asio::post(state->executor, [state] { begin_next(state); });
  work();
}

}  // namespace holdfast::loop
