// Work that a peer may cause faster than it can be done, begun in one turn of the loop after the
// other, so that whatever else is ready is not delayed until all of it is done.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

namespace holdfast::loop {

namespace asio = boost::asio;

class Turns {
 public:
  explicit Turns(asio::any_io_executor executor);

  // Calls `work` now if no other work was begun in this turn of the loop, and else in the first
  // later turn that is free, in the order of the calls. What is left when the Turns end is still
  // begun, so it must own what it uses.
  void add(std::function<void()> work);

 private:
  struct State;
  static void begin_next(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::loop
