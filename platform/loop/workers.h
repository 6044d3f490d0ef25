// A pool of threads for work that can be divided into independent pieces. for_each() returns when
// all pieces are done.
//
// The pieces must not use the loop or each other's data. The threads start on first use and end
// with the Workers. All signals are blocked in them.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace holdfast::loop {

namespace asio = boost::asio;

// From now on Workers that are made for `loop` start no threads: the calling thread does all
// pieces, in their order. Nor does run_in_background(). For loops in virtual time. Can be called
// only once.
void forbid_threads(asio::execution_context& loop);
[[nodiscard]] bool are_threads_forbidden(asio::execution_context& loop);

class Workers {
 public:
  // `threads`: how many to use besides the calling thread, which runs the executor's loop.
  Workers(const asio::any_io_executor& executor, std::size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls work(i) once for each i below `count`, on the pool's threads and on the calling thread.
  // Only one thread may call it at a time.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work);

  // The number of processors of this machine; at least one.
  [[nodiscard]] static std::size_t processors();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::loop
