// An ApiClient that knows its manners: a rate of its own, permission for writes, pauses on request.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>

#include "agent/client/api_client.h"
#include "agent/client/request_bucket.h"
#include "platform/config/options.h"
#include "platform/loop/event.h"

namespace holdfast::agent {

// What to do when a server says 429, or 503, with Retry-After. Without that header an answer is
// final here, as in client-go; so is the 429 of a PodDisruptionBudget, which is about one pod and
// not about us.
struct RetryPolicy {
  int tries = 11;                                 // client-go: ten retries
  Duration pause_min = std::chrono::seconds(1);   // "Retry-After: 0" is not a reason to hurry
  Duration pause_max = std::chrono::seconds(60);  // a server that asks for more is asked again
};

struct RequestLimits {
  double qps = 1000;
  int burst = 2000;
  RetryPolicy retry = {};
};
void add_options(config::Options& options, RequestLimits& limits);
// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const RequestLimits& limits);

// Whether those whose turn it is may write at all.
class WritePermit {
 public:
  virtual ~WritePermit() = default;
  // Waits until writing is allowed; until when a write that is sent now must have ended.
  virtual asio::awaitable<MonoTime> wait() = 0;
};

class LimitedClient final : public ApiCaller {
 public:
  // Told of every request that was sent: its method, and the answer's status or 0 for none.
  using Observer = std::function<void(http::Method method, int status)>;

  // All but the limits are borrowed and outlive it.
  LimitedClient(ApiClient& client, const RequestLimits& limits, WritePermit& permit,
                const Clock& clock, Observer observer)
      : client_(client),
        limits_(limits),
        bucket_(limits.qps, limits.burst),
        permit_(permit),
        clock_(clock),
        observer_(std::move(observer)) {}

  // For whoever needs the permit, reads of it included. As ApiClient::call(), but the time until
  // `deadline` is what one try may take, once its turn has come.
  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime deadline) override;

  // For lists and watches, which need no permit and try again by themselves; as ApiClient::send().
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed, Duration limit);

  [[nodiscard]] double saturation() const { return bucket_.saturation(clock_.mono()); }

 private:
  asio::awaitable<void> take_turn();
  asio::awaitable<Result<http::Response>> send_now(ApiRequest request, bool streamed,
                                                   MonoTime deadline);

  ApiClient& client_;
  RequestLimits limits_;
  RequestBucket bucket_;
  WritePermit& permit_;
  const Clock& clock_;
  Observer observer_;
};

// The pause that an answer asks for, within the policy's bounds; nothing when it is final.
[[nodiscard]] std::optional<Duration> pause_of(const http::Response& response,
                                               const RetryPolicy& policy);

}  // namespace holdfast::agent
