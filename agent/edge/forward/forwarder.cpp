#include "agent/edge/forward/forwarder.h"

#include "agent/edge/forward/unavailable.h"
#include "agent/edge/route/answer.h"
#include "platform/http/inflate.h"
#include "platform/http/wire.h"
#include "sync/objects/list_options.h"
#include "sync/objects/version.h"

namespace holdfast::agent {
namespace {

constexpr int too_large = 507;  // Uplink's own answer; no API server sends it

http::Request upstream_request(const RoutedRequest& request) {
  http::Request onward = request.http;
  drop_connection_headers(onward.headers, onward.headers.has("upgrade"));
  onward.headers.remove("host");
  if (request.hides_authorization) onward.headers.remove("authorization");
  const std::string& accept = request.inner_accept.text();
  if (accept != request.accept.text()) onward.headers.set("Accept", accept);
  return onward;
}

// Whether the answer's body is sent to the client while it arrives.
bool is_streamed(const RoutedRequest& request) {
  return request.query.has("watch") || request.query.has("follow") ||
         request.http.headers.has("upgrade");
}

http::Response answer_or_reason(const Uplink& uplink, Result<http::Response> response) {
  if (!response) return not_reached(uplink, response.error());
  drop_connection_headers(response->headers, response->status == 101);
  return *std::move(response);
}

}  // namespace

asio::awaitable<http::Response> Forwarder::forward(const RoutedRequest& request, Duration limit,
                                                   Delivery delivery) {
  if (sync::objects::is_local_version(request.query.get("resourceVersion"))) {
    co_return to_response(sync::wire::status::expired(
        "the resourceVersion is a local one of the edge agent, which the API "
        "server does not know"));
  }
  const bool hopeless =
      uplink_.link().state() == sync::autonomy::LinkState::offline && uplink_.fault();
  if (hopeless && request.impersonates) {
    co_return unavailable(uplink_, "only the API server can judge who acts as another user");
  }
  if (hopeless) co_return unavailable(uplink_, "this is not cached");
  if (is_streamed(request)) delivery = Delivery::streamed;
  auto response = co_await send(request, limit, delivery);
  co_return answer_or_reason(uplink_, std::move(response));
}

asio::awaitable<Result<http::Response>> Forwarder::send(const RoutedRequest& request,
                                                        Duration limit, Delivery delivery) {
  const bool whole = request.needs_whole_answer && delivery != Delivery::streamed;
  if (whole && request.is_list()) {
    const bool may_take_long = delivery == Delivery::moving;
    return send_paged(request, limit,
                      may_take_long ? Delivery::whole_if_it_moves : Delivery::whole);
  }
  return uplink_.forward(compressible(request), whole ? Delivery::whole : delivery, limit);
}

http::Request Forwarder::compressible(const RoutedRequest& request) const {
  http::Request onward = upstream_request(request);
  const bool asks = http::asks_for_gzip(onward.headers);
  const bool may_be = onward.method == http::Method::get && !is_streamed(request);
  onward.headers.remove("accept-encoding");
  if (may_be && uplink_.compresses(asks)) onward.headers.add("Accept-Encoding", "gzip");
  return onward;
}

asio::awaitable<Result<http::Response>> Forwarder::send_paged(const RoutedRequest& request,
                                                              Duration limit, Delivery delivery) {
  // Who acts as another user may see other objects in each request.
  const bool remembers = !request.impersonates;
  const auto list =
      sync::objects::callers_list(request.caller.owner, request.http.path(), request.query);
  std::optional<Query> page = request.query;
  if (remembers) page = large_lists_.to_ask(clock_.mono(), list, request.query);
  Result<http::Response> response = status_problem(
      too_large, "less than a minute ago the list had more than --list-bytes-max permits");
  while (page) {
    http::Request onward = compressible(request);
    const bool is_smaller = *page != request.query;
    if (is_smaller) onward.target = std::string(request.http.path()) + "?" + page->encode();
    response = co_await uplink_.forward(std::move(onward), delivery, limit);
    if (!response || response->status != too_large) break;
    if (remembers) large_lists_.note(clock_.mono(), list, *page);
    page = sync::objects::smaller_page(*page);
  }
  co_return response;
}

asio::awaitable<http::Response> Forwarder::dial(const RoutedRequest& request) {
  if (!uplink_.link().allows_reads()) {
    co_return unavailable(uplink_, "only the API server can answer this request");
  }
  constexpr auto patience = std::chrono::seconds(40);  // kube-apiserver waits 30 s for a kubelet
  const bool is_head = request.http.method == http::Method::head;
  const Delivery delivery = is_head ? Delivery::whole : Delivery::streamed;
  auto response = co_await uplink_.forward(upstream_request(request), delivery, patience, false);
  if (response && response->stream && http::has_no_body(response->status)) {
    response->stream->cancel();
    response->stream.reset();
  }
  co_return answer_or_reason(uplink_, std::move(response));
}

asio::awaitable<Result<http::Response>> Forwarder::try_forward(const RoutedRequest& request,
                                                               Duration limit, Delivery delivery) {
  if (request.is_watch()) delivery = Delivery::streamed;
  auto response = co_await send(request, limit, delivery);
  if (response) drop_connection_headers(response->headers, false);
  co_return response;
}

}  // namespace holdfast::agent
