// A few threads for work that can be cut into pieces: all pieces are done when for_each() returns.
//
// The pieces must not touch the loop, nor each other's data. The threads start at the first use and
// end with the Workers; signals are not theirs.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace holdfast::loop {

class Workers {
 public:
  // So many threads besides the caller's own.
  explicit Workers(std::size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls work(i) once for each i below `count`; the caller's thread works, too. One caller at a
  // time.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work);

  // Of this machine; at least one.
  [[nodiscard]] static std::size_t processors();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::loop
