#include "agent/edge/pipeline.h"

#include "platform/check.h"

namespace holdfast::agent {
namespace {

// The refusal for a caller that has only a certificate, and so no credentials for the API server.
std::optional<http::Response> refuse(const RoutedRequest& request) {
  const Caller& caller = request.caller;
  if (!caller.by_certificate) return std::nullopt;
  if (caller.owner == node_owner && request.is_read()) return std::nullopt;
  const sync::RequestInfo& info = request.info;
  return to_response(sync::status::forbidden(
      {info.group, info.resource}, info.name,
      "with a certificate alone a caller can only read its own cached objects: use a token"));
}

}  // namespace

Pipeline::Pipeline(const Parts& parts)
    : parts_(parts),
      forwarder_(parts.uplink),
      keeper_(parts.scopes, parts.feeders, parts.uplink.owners()),
      documents_(parts.options, parts.uplink, forwarder_, keeper_),
      reads_(parts.options, parts.scopes, parts.uplink, forwarder_, keeper_, parts.filters,
             parts.clock, parts.random),
      writes_(parts.options, parts.scopes, parts.uplink, parts.ledger, parts.lease, forwarder_,
              keeper_, parts.clock, parts.random),
      presentation_(parts.options, parts.uplink, keeper_, parts.clock) {}

// All steps are in one coroutine, because each further one costs every request a frame.
asio::awaitable<http::Response> Pipeline::serve(const http::Request& http, Result<Caller> caller,
                                                bool hides_authorization) {
  if (!caller) {
    sync::ApiStatus refused = sync::status::unauthorized();
    refused.message = caller.error().what;
    co_return to_response(refused);
  }
  caller->cached = caller->cached || parts_.filters.caches(caller->agent);
  parts_.housekeeping.heard_client();
  const std::string credentials(hides_authorization ? "" : http.headers.get("authorization"));
  if (!credentials.empty()) parts_.feeders.remember(caller->owner, credentials);
  auto routed = route(http, *std::move(caller));
  if (!routed) co_return to_response(sync::status::bad_request(routed.error().what));
  RoutedRequest& request = *routed;
  request.hides_authorization = hides_authorization;
  const auto flight = parts_.metrics.begin(request.caller.agent, request.info);

  RoutedAnswer answer;
  FilterCall call;
  auto refusal = refuse(request);
  if (!refusal) {
    call = co_await parts_.filters.call_of(request.caller.agent, request.info);
    refusal = narrow(request, call);
  }
  const Way way = way_of(request, parts_.options.node_name);
  if (refusal) {
    answer.response = *std::move(refusal);
  } else if (way == Way::read) {
    answer = co_await reads_.serve(request, call);
  } else if (way == Way::write) {
    answer.response = co_await writes_.serve(request);
  } else if (way == Way::document) {
    answer = co_await documents_.serve(request);
  } else if (way == Way::dial) {
    answer.response = co_await forwarder_.dial(request);
  } else {
    CHECK(way == Way::forward);
    answer.response = co_await forwarder_.forward(request, parts_.options.write_deadline);
  }

  if (!answer.filtered && parts_.filters.view(call)) {
    answer.response = co_await parts_.filters.show(call, std::move(answer.response));
  }
  http::Response response = way == Way::write ? std::move(answer.response)
                                              : presentation_.present(request, std::move(answer));
  // The request may have opened the caller's first scope.
  if (!credentials.empty()) parts_.feeders.remember(request.caller.owner, credentials);
  HubMetrics::answer(flight, response);
  co_return response;
}

std::optional<http::Response> Pipeline::narrow(RoutedRequest& request, const FilterCall& call) {
  if (!request.is_read()) return std::nullopt;
  presentation_.prepare(request);
  if (!parts_.filters.view(call)) return std::nullopt;
  auto whole = request.inner_accept.whole_objects();
  if (!whole) return to_response(sync::status::generic(406));
  request.inner_accept = *std::move(whole);
  return std::nullopt;
}

}  // namespace holdfast::agent
