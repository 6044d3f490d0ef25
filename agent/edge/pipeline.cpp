#include "agent/edge/pipeline.h"

#include "agent/edge/room_settings.h"
#include "platform/check.h"

namespace holdfast::agent {
namespace {

// The refusal for a caller that has only a certificate, and so no credentials for the API server.
std::optional<http::Response> refuse(const RoutedRequest& request) {
  const Caller& caller = request.caller;
  if (!caller.by_certificate) return std::nullopt;
  if (caller.owner == node_owner && request.is_read()) return std::nullopt;
  const sync::objects::RequestInfo& info = request.info;
  return to_response(sync::wire::status::forbidden(
      {info.group, info.resource}, info.name,
      "with a certificate alone a caller can only read its own cached objects: use a token"));
}

}  // namespace

Pipeline::Pipeline(const Dependencies& dependencies)
    : dependencies_(dependencies),
      forwarder_(dependencies.uplink, dependencies.clock),
      answer_cache_(dependencies.scopes, dependencies.answers, dependencies.reflectors,
                    dependencies.uplink.owners()),
      documents_(deadlines(dependencies.options), dependencies.uplink, forwarder_, answer_cache_),
      reads_({.deadlines = deadlines(dependencies.options),
              .bookmark_interval = dependencies.options.bookmark_interval},
             dependencies.scopes.table(), dependencies.content, dependencies.versions,
             dependencies.reflectors, dependencies.uplink, forwarder_, answer_cache_,
             dependencies.filters, dependencies.clock, dependencies.random),
      writes_(dependencies.options.node_name, deadlines(dependencies.options), dependencies.scopes,
              dependencies.content, dependencies.versions, dependencies.uplink,
              dependencies.offline_store, dependencies.lease, forwarder_, answer_cache_,
              dependencies.registration, dependencies.clock, dependencies.random),
      presentation_(dependencies.options.cache_agents,
                    dependencies.scopes.table().limits().scope_bytes, dependencies.uplink,
                    answer_cache_, dependencies.clock) {}

// All steps are in one coroutine, because each further one costs every request a frame.
asio::awaitable<http::Response> Pipeline::serve(const http::Request& http, Result<Caller> caller,
                                                bool hides_authorization) {
  if (!caller) {
    sync::wire::ApiStatus refused = sync::wire::status::unauthorized();
    refused.message = caller.error().what;
    co_return to_response(refused);
  }
  caller->cached = caller->cached || dependencies_.filters.caches(caller->agent);
  dependencies_.housekeeping.note_client_request();
  const std::string credentials(hides_authorization ? "" : http.headers.get("authorization"));
  if (!credentials.empty()) dependencies_.reflectors.set_credentials(caller->owner, credentials);
  auto routed = route(http, *std::move(caller));
  if (!routed) co_return to_response(sync::wire::status::bad_request(routed.error().what));
  RoutedRequest& request = *routed;
  request.hides_authorization = hides_authorization;
  const auto flight = dependencies_.metrics.begin(request.caller.agent, request.info);

  RoutedAnswer answer;
  FilterRequest call;
  auto refusal = refuse(request);
  if (!refusal) {
    call = co_await dependencies_.filters.filter_request_of(request.caller.agent, request.info);
    refusal = narrow(request, call);
  }
  const HandlerKind handler = handler_of(request, dependencies_.options.node_name);
  if (refusal) {
    answer.response = *std::move(refusal);
  } else if (handler == HandlerKind::read) {
    answer = co_await reads_.serve(request, call);
  } else if (handler == HandlerKind::write) {
    answer.response = co_await writes_.serve(request);
  } else if (handler == HandlerKind::document) {
    answer = co_await documents_.serve(request);
  } else if (handler == HandlerKind::dial) {
    answer.response = co_await forwarder_.dial(request);
  } else {
    CHECK(handler == HandlerKind::forward);
    Delivery delivery = request.is_read() ? Delivery::moving : Delivery::whole;
    if (Presentation::remembers(request)) delivery = Delivery::whole_if_it_fits;
    answer.response =
        co_await forwarder_.forward(request, dependencies_.options.write_deadline, delivery);
  }

  if (!answer.filtered && dependencies_.filters.view(call)) {
    answer.response =
        co_await dependencies_.filters.filter_response(call, std::move(answer.response));
  }
  http::Response response = handler == HandlerKind::write
                                ? std::move(answer.response)
                                : presentation_.present(request, std::move(answer));
  // The request may have opened the caller's first scope.
  if (!credentials.empty())
    dependencies_.reflectors.set_credentials(request.caller.owner, credentials);
  HubMetrics::answer(flight, response);
  co_return response;
}

std::optional<http::Response> Pipeline::narrow(RoutedRequest& request, const FilterRequest& call) {
  if (!request.is_read()) return std::nullopt;
  presentation_.prepare(request);
  request.needs_whole_answer = request.inner_accept.text() != request.accept.text();
  if (!dependencies_.filters.view(call)) return std::nullopt;
  request.needs_whole_answer = true;
  auto whole = request.inner_accept.whole_objects();
  if (!whole) return to_response(sync::wire::status::generic(406));
  request.inner_accept = *std::move(whole);
  return std::nullopt;
}

}  // namespace holdfast::agent
