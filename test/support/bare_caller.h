// A client that sends exactly the bytes that a test tells it and reads what comes, in virtual
// time.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/net/transport.h"
#include "test/support/virtual_time.h"

namespace holdfast::test {

class BareCaller {
 public:
  // Connects to a port of 127.0.0.1 as soon as the loop runs. With `reads` false, it never reads.
  BareCaller(VirtualTime& time, std::uint16_t port, bool reads = true);
  ~BareCaller();
  BareCaller(BareCaller&&) noexcept = default;
  BareCaller& operator=(BareCaller&&) noexcept = default;
  BareCaller(const BareCaller&) = delete;
  BareCaller& operator=(const BareCaller&) = delete;

  // Sends the bytes as soon as the loop runs, after those of earlier calls.
  void say(std::string_view bytes);
  // The bytes received since the last call.
  [[nodiscard]] std::string hear();
  // Whether the peer has ended or reset the connection, or did not accept it.
  [[nodiscard]] bool is_sent_away() const;
  // Closes the connection.
  void hang_up();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::test
