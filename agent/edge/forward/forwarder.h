// Forwards requests of local clients to the API server, and returns its answers without the headers
// that belong to one connection.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/forward/uplink.h"
#include "agent/edge/route/routed_request.h"
#include "sync/objects/large_lists.h"

namespace holdfast::agent {

class Forwarder {
 public:
  // Both references are borrowed.
  Forwarder(Uplink& uplink, const Clock& clock) : uplink_(uplink), clock_(clock) {}

  // Forwards a request. If the API server does not answer: 410 for a local resourceVersion, which
  // it does not know, otherwise 429, 503 or 504. `limit` is as in Uplink::forward(). `delivery` is
  // for a body that does not have to be streamed.
  asio::awaitable<http::Response> forward(const RoutedRequest& request, Duration limit,
                                          Delivery delivery = Delivery::whole);

  // Forwards a request that the API server passes on to a kubelet or a pod (exec, logs). Such a
  // request may take long, its timeout is no evidence against the link, and its answer is streamed.
  // Returns 503 at once while the cloud is unreachable.
  asio::awaitable<http::Response> dial(const RoutedRequest& request);

  // Forwards a read that the cache may answer instead. Errors: as Uplink::forward().
  asio::awaitable<Result<http::Response>> try_forward(const RoutedRequest& request, Duration limit,
                                                      Delivery delivery);

 private:
  // Sends a list that the agent needs whole. If it is too large for that, the client gets a page of
  // it, if it has asked for pages. What was too large is not asked for again soon. Errors: as
  // Uplink::forward(); `limit` is for each try.
  asio::awaitable<Result<http::Response>> send_paged(const RoutedRequest& request, Duration limit,
                                                     Delivery delivery);
  // The request to the API server, which asks for a compressed answer where that is worth it.
  [[nodiscard]] http::Request compressible(const RoutedRequest& request) const;
  asio::awaitable<Result<http::Response>> send(const RoutedRequest& request, Duration limit,
                                               Delivery delivery);

  Uplink& uplink_;
  const Clock& clock_;
  sync::objects::LargeLists large_lists_;
};

}  // namespace holdfast::agent
