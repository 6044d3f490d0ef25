// Counts the bytes of each class of traffic on the uplink, and delays requests so that
// --uplink-budget is kept.
//
// Counted are the bytes of HTTP messages before HTTP/2 header compression and without TLS overhead;
// a compressed body counts with its compressed size.
//
// The cost of a request is known only when its answer arrives. Until then, the average cost of the
// latest answers of its class is reserved. As many requests run at once as the budget has room for,
// and always at least one if the class has no debt. Watches are charged as their events arrive, and
// never delayed once they are open.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>

#include "agent/client/api_client.h"
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
    std::uint64_t delayed_requests = 0;  // requests that waited for the budget
  };

  UplinkBytes(asio::any_io_executor executor, const sync::autonomy::ByteRates& rates,
              const Clock& clock);

  // The reservation for one request; returned when the last copy is destroyed.
  using Reservation = std::shared_ptr<void>;

  // Waits until a request may be sent. Errors: exhausted, if that would be after `deadline`.
  static asio::awaitable<Result<Reservation>> wait_for_budget(std::shared_ptr<UplinkBytes> self,
                                                              sync::autonomy::UplinkClass traffic,
                                                              MonoTime deadline);

  // Charge bytes that were sent or received.
  void sent(sync::autonomy::UplinkClass traffic, std::size_t bytes);
  void received(sync::autonomy::UplinkClass traffic, std::size_t bytes);
  // Charges a piece of a body that `server` has sent.
  void received_from(std::size_t server, sync::autonomy::UplinkClass traffic, std::size_t bytes);
  // The bytes of all such pieces from the server.
  [[nodiscard]] std::uint64_t received_from(std::size_t server) const;
  // Updates the estimated cost of an answer of this class. Charges nothing.
  void expect(sync::autonomy::UplinkClass traffic, std::size_t bytes);

  [[nodiscard]] const Cost& cost(sync::autonomy::UplinkClass traffic) const;
  // Whether a request of this class waits for the budget now.
  [[nodiscard]] bool delays(sync::autonomy::UplinkClass traffic) const;
  // Whether a request waits now, or one began to wait since `time`.
  [[nodiscard]] bool was_delayed_since(MonoTime time) const;

 private:
  struct ClassEstimate {
    bool limited = false;
    double expected = 16.0 * 1024;  // running mean of the bytes of an answer
  };
  [[nodiscard]] Reservation take(sync::autonomy::UplinkClass traffic);

  const Clock& clock_;
  sync::autonomy::ByteBudget budget_;
  std::array<Cost, sync::autonomy::uplink_classes> costs_{};
  std::map<std::size_t, std::uint64_t> received_from_;  // by server
  std::array<ClassEstimate, sync::autonomy::uplink_classes> estimates_{};
  loop::Event ended_;                                          // notified when a reservation ends
  std::array<int, sync::autonomy::uplink_classes> waiting_{};  // for the budget
  MonoTime last_delayed_at_ = MonoTime::min();
};

// Estimates the size of the request with the headers that ApiClient adds.
[[nodiscard]] std::size_t size_of(const ApiRequest& request);
// The bytes of a request or answer, without its stream.
[[nodiscard]] std::size_t size_of(const http::Request& request);
[[nodiscard]] std::size_t size_of(const http::Response& response);

}  // namespace holdfast::agent
