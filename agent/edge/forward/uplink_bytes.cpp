#include "agent/edge/forward/uplink_bytes.h"

#include <algorithm>
#include <utility>

namespace holdfast::agent {
namespace {

std::size_t size_of_headers(const http::Headers& headers) {
  std::size_t bytes = 2;
  for (const http::Header& header : headers) bytes += header.name.size() + header.value.size() + 4;
  return bytes;
}

// Counts a waiting request during its lifetime.
class WaitCount {
 public:
  explicit WaitCount(int& count) : count_(count) { ++count_; }
  ~WaitCount() { --count_; }
  WaitCount(const WaitCount&) = delete;
  WaitCount& operator=(const WaitCount&) = delete;

 private:
  int& count_;
};

}  // namespace

std::size_t size_of(const ApiRequest& request) {
  constexpr std::size_t usual = 144;  // method, Host, User-Agent, Content-Type
  const std::size_t accept = std::max(request.accept.size(), std::size_t{16});
  return usual + accept + request.target.size() + request.authorization.size() +
         request.body.size();
}

std::size_t size_of(const http::Request& request) {
  constexpr std::size_t line = 16;  // method, version, line end
  return line + request.target.size() + size_of_headers(request.headers) + request.body.size();
}

std::size_t size_of(const http::Response& response) {
  constexpr std::size_t line = 17;  // "HTTP/1.1 200 OK", line end
  const std::size_t body = response.wire_bytes ? *response.wire_bytes : response.body.size();
  return line + size_of_headers(response.headers) + body;
}

UplinkBytes::UplinkBytes(asio::any_io_executor executor, const sync::autonomy::ByteRates& rates,
                         const Clock& clock)
    : clock_(clock), budget_(rates, clock.mono()), ended_(std::move(executor)) {
  for (std::size_t i = 0; i < sync::autonomy::uplink_classes; ++i) {
    const bool exempt =
        static_cast<sync::autonomy::UplinkClass>(i) == sync::autonomy::UplinkClass::heartbeat;
    estimates_.at(i).limited = !exempt && (rates.total > 0 || rates.classes.at(i) > 0);
  }
}

UplinkBytes::Reservation UplinkBytes::take(sync::autonomy::UplinkClass traffic) {
  ClassEstimate& under = estimates_.at(static_cast<std::size_t>(traffic));
  if (!under.limited) return nullptr;
  const auto bytes = static_cast<std::uint64_t>(under.expected);
  budget_.reserve(traffic, bytes);
  const auto end = [self = shared_from_this(), traffic, bytes](void*) {
    self->budget_.release(traffic, bytes);
    self->ended_.notify_all();
  };
  return {this, end};
}

bool UplinkBytes::delays(sync::autonomy::UplinkClass traffic) const {
  return waiting_.at(static_cast<std::size_t>(traffic)) > 0;
}

bool UplinkBytes::was_delayed_since(MonoTime time) const {
  const auto waits = [](int requests) { return requests > 0; };
  return last_delayed_at_ >= time || std::any_of(waiting_.begin(), waiting_.end(), waits);
}

asio::awaitable<Result<UplinkBytes::Reservation>> UplinkBytes::wait_for_budget(
    std::shared_ptr<UplinkBytes> self, sync::autonomy::UplinkClass traffic, MonoTime deadline) {
  const auto index = static_cast<std::size_t>(traffic);
  bool waited = false;
  for (;;) {
    const MonoTime now = self->clock_.mono();
    const MonoTime ready = self->budget_.ready_at(traffic, now);
    const bool crowded = ready == MonoTime::max();  // wait until another request ends
    if (ready <= now) {
      Reservation reservation = self->take(traffic);
      co_return reservation;
    }
    self->last_delayed_at_ = now;
    if (!waited) ++self->costs_.at(index).delayed_requests;
    waited = true;
    if ((!crowded && ready > deadline) || now >= deadline) {
      std::string why = "the uplink's budget is spent for now: ";
      why += to_string(traffic);
      co_return fail(Errc::exhausted, std::move(why));
    }
    const MonoTime until = crowded ? deadline : ready;
    const WaitCount counted(self->waiting_.at(index));
    (void)co_await self->ended_.wait_until(until);
  }
}

void UplinkBytes::sent(sync::autonomy::UplinkClass traffic, std::size_t bytes) {
  costs_.at(static_cast<std::size_t>(traffic)).sent += bytes;
  budget_.spend(traffic, bytes, clock_.mono());
}

void UplinkBytes::received(sync::autonomy::UplinkClass traffic, std::size_t bytes) {
  costs_.at(static_cast<std::size_t>(traffic)).received += bytes;
  budget_.spend(traffic, bytes, clock_.mono());
}

void UplinkBytes::received_from(std::size_t server, sync::autonomy::UplinkClass traffic,
                                std::size_t bytes) {
  received_from_[server] += bytes;
  received(traffic, bytes);
}

std::uint64_t UplinkBytes::received_from(std::size_t server) const {
  const auto received = received_from_.find(server);
  return received == received_from_.end() ? 0 : received->second;
}

void UplinkBytes::expect(sync::autonomy::UplinkClass traffic, std::size_t bytes) {
  constexpr double newest = 0.25;
  double& expected = estimates_.at(static_cast<std::size_t>(traffic)).expected;
  expected += (static_cast<double>(bytes) - expected) * newest;
}

const UplinkBytes::Cost& UplinkBytes::cost(sync::autonomy::UplinkClass traffic) const {
  return costs_.at(static_cast<std::size_t>(traffic));
}

}  // namespace holdfast::agent
