// The uplink's bytes: what each class of traffic has cost, and whose turn it is under a budget.
//
// Bytes are those of HTTP messages as they are before HTTP/2 makes them smaller, without TLS's own;
// of a body that came compressed those on the wire.
// What a request costs is known only when its answer is there. Until then so much is set aside as
// the last ones of its class have cost: under a budget as many go at once as it has room for, and
// one always does that owes nothing. Watches are charged as their events come, and never held back
// once open.
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>

#include "platform/http/message.h"
#include "platform/loop/event.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/autonomy/byte_budget.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class UplinkBytes : public std::enable_shared_from_this<UplinkBytes> {
 public:
  struct Cost {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t held_back = 0;  // requests that had to wait
  };

  UplinkBytes(asio::any_io_executor executor, const sync::ByteRates& rates, const Clock& clock);

  // What was set aside for a request; given back when it ends.
  using Turn = std::shared_ptr<void>;

  // Waits for the turn of a request. Errors: exhausted, when it would come only after `deadline`.
  static asio::awaitable<Result<Turn>> wait_for_turn(std::shared_ptr<UplinkBytes> self,
                                                     sync::UplinkClass traffic, MonoTime deadline);

  void sent(sync::UplinkClass traffic, std::size_t bytes);
  void received(sync::UplinkClass traffic, std::size_t bytes);
  // An answer had so many bytes: the next ones' cost is estimated by it. They are not counted here.
  void expect(sync::UplinkClass traffic, std::size_t bytes);

  [[nodiscard]] const Cost& cost(sync::UplinkClass traffic) const;
  // Whether a request waits now, or began to wait since `time`.
  [[nodiscard]] bool held_back_since(MonoTime time) const {
    return waiting_ > 0 || held_back_at_ >= time;
  }

 private:
  struct Under {
    bool limited = false;
    double expected = 16.0 * 1024;  // bytes of an answer: a running mean
  };
  [[nodiscard]] Turn take(sync::UplinkClass traffic);

  const Clock& clock_;
  sync::ByteBudget budget_;
  std::array<Cost, sync::uplink_classes> costs_{};
  std::array<Under, sync::uplink_classes> under_{};
  loop::Event ended_;  // a turn
  int waiting_ = 0;    // requests
  MonoTime held_back_at_ = MonoTime::min();
};

// A request or answer without its stream.
[[nodiscard]] std::size_t size_of(const http::Request& request);
[[nodiscard]] std::size_t size_of(const http::Response& response);

}  // namespace holdfast::agent
