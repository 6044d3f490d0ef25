// An open file descriptor that closes itself.

#pragma once

#include <unistd.h>

#include <utility>

namespace holdfast {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

  // Hands the descriptor to the caller, who closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

  void close() {
    if (number_ >= 0) (void)::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace holdfast
