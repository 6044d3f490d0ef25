// An ApiClient for controllers: it limits the rate of requests, waits for a permit (leadership)
// before it writes, and obeys a server's Retry-After.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "agent/client/api_client.h"
#include "platform/config/options.h"
#include "platform/loop/event.h"
#include "sync/pacing/request_bucket.h"

namespace holdfast::agent {

// How to retry after a 429 or 503 with Retry-After. As in client-go, an answer without that header
// is final. So is the 429 of a PodDisruptionBudget, because it concerns one pod and not the client.
struct RetryPolicy {
  int tries = 11;                                 // client-go: ten retries
  Duration pause_min = std::chrono::seconds(1);   // lower bound, also for "Retry-After: 0"
  Duration pause_max = std::chrono::seconds(60);  // upper bound, also if the server asks for more
};

struct RequestLimits {
  // Requests per second on average, and at once after an idle time.
  double qps = 1000;
  int burst = 2000;
  RetryPolicy retry = {};
};
void add_options(config::Options& options, RequestLimits& limits);
// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const RequestLimits& limits);

// Allows or delays writes, for example while another replica is the leader.
class WritePermit {
 public:
  virtual ~WritePermit() = default;
  // Waits until writing is allowed. Returns the time by which a write that is sent now must have
  // ended.
  virtual asio::awaitable<MonoTime> wait() = 0;
};

// Allows every write at any time: there is no leader election.
class AlwaysPermitted final : public WritePermit {
 public:
  asio::awaitable<MonoTime> wait() override { co_return MonoTime::max(); }
};

class LimitedClient final : public ApiCaller {
 public:
  struct Observation {
    http::Method method;
    std::string_view target;  // the path with its query; valid during the call
    int status;               // 0: there was no answer
    bool is_healthy;   // the server did its work; not so for no answer, a 5xx or an overload's 429
    bool lacks_right;  // a 403 because of missing rights, not because of the object
  };

  // Called after every request.
  using Observer = std::function<void(const Observation& observation)>;

  // All parameters except the limits are borrowed and must outlive this.
  LimitedClient(ApiClient& client, const RequestLimits& limits, WritePermit& permit,
                const Clock& clock, Observer observer)
      : client_(client),
        limits_(limits),
        bucket_(clock.mono(), limits.qps, limits.burst),
        permit_(permit),
        clock_(clock),
        observer_(std::move(observer)) {}

  // For requests that need the permit, including reads. Like ApiClient::call(), but retried as
  // RetryPolicy says. The time from now until `deadline` limits each try separately and starts when
  // the rate limit and the permit allow the try.
  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) override;

  // For lists and watches: they need no permit and their callers retry. Like ApiClient::send();
  // `limit` starts when the rate limit allows the request.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed, Duration limit);

  // Used share of the burst: 0 (idle) to 1 (the next request waits).
  [[nodiscard]] double saturation() const { return bucket_.saturation(clock_.mono()); }

 private:
  asio::awaitable<void> take_turn();
  asio::awaitable<Result<http::Response>> send_now(ApiRequest request, bool streamed,
                                                   MonoTime deadline);

  ApiClient& client_;
  RequestLimits limits_;
  sync::pacing::RequestBucket bucket_;
  WritePermit& permit_;
  const Clock& clock_;
  Observer observer_;
};

// The pause that a 429 or 503 asks for, within the policy's bounds. Nothing if the answer is final.
[[nodiscard]] std::optional<Duration> pause_of(const http::Response& response,
                                               const RetryPolicy& policy);

}  // namespace holdfast::agent
