// The way to the cloud: every request that goes there, and what each tells about the link.
//
// Threading: the loop's thread only. Outlive the calls.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "agent/client/api_client.h"
#include "platform/loop/event.h"
#include "platform/random.h"
#include "sync/autonomy/link.h"

namespace holdfast::agent {

// Who wants to know what answers tell besides.
class UplinkObserver {
 public:
  virtual ~UplinkObserver() = default;
  // An API server's answer, whatever its status.
  virtual void answered(const http::Response& response) = 0;
  // It does not know us by our own credentials.
  virtual void unauthorized() = 0;
};

class Uplink {
 public:
  Uplink(asio::any_io_executor executor, const sync::LinkConfig& config, ApiClient& client,
         const Clock& clock, Random& random);

  // `observer` outlives the calls.
  void observe(UplinkObserver& observer) { observer_ = &observer; }

  [[nodiscard]] const sync::Link& link() const { return link_; }
  // Notified whenever the link's state changes.
  [[nodiscard]] loop::Event& changed() { return changed_; }

  // Passes a local client's request on. Errors are the transport's: the cloud was not reached; and
  // denied, for a caller who is known by a certificate and brings no token: he gets no credentials
  // of ours.
  asio::awaitable<Result<http::Response>> forward(http::Request request, bool streamed,
                                                  Duration limit);
  // A request of our own; errors as ApiClient::call().
  asio::awaitable<Result<std::string>> call(ApiRequest request, Duration limit);
  // The same as it was answered, whatever the status.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed, Duration limit);

  // A write was accepted here: the link comes back by a rejoin, which sends it.
  void accepted_locally() { link_.accepted_locally(); }
  void probing() { link_.probing(clock_.mono()); }
  void rejoined();
  void rejoin_failed(std::string_view reason);

  [[nodiscard]] http::Traffic traffic() const { return client_.traffic(); }

 private:
  // Judges what came of a request that began at `began`. An answer that no API server gives (a
  // captive portal's page) is turned into an error.
  Result<http::Response> judge(MonoTime began, bool own_credentials,
                               Result<http::Response> outcome);
  void announce();

  ApiClient& client_;
  const Clock& clock_;
  sync::Link link_;
  loop::Event changed_;
  UplinkObserver* observer_ = nullptr;
};

}  // namespace holdfast::agent
