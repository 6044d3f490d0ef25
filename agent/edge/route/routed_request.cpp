#include "agent/edge/route/routed_request.h"

#include <algorithm>

#include "platform/http/hops.h"
#include "sync/autonomy/admit.h"

namespace holdfast::agent {
namespace {

// Documents that describe the API. They change only when the server is upgraded, so an old copy is
// still true, and they are kept for any client. Health and metrics are not.
bool is_description(std::string_view path) {
  return path == "/version" || path == "/api" || path.starts_with("/api/") || path == "/apis" ||
         path.starts_with("/apis/") || path.starts_with("/openapi/");
}

// Whether the API server passes the request on, to a kubelet or a pod.
bool is_passed_on(const sync::objects::RequestInfo& info) {
  return info.is_connect() || (info.resource == "pods" && info.subresource == "log");
}

}  // namespace

bool RoutedRequest::is_read() const {
  if (!info.is_resource) return info.verb == "get" || info.verb == "head";
  return info.verb == "get" || info.verb == "list" || info.verb == "watch";
}

Result<RoutedRequest> route(const http::Request& request, Caller caller) {
  const std::string_view method = request.method == http::Method::other
                                      ? std::string_view(request.method_text)
                                      : http::to_string(request.method);
  TRY(Query query, Query::parse(request.query()));
  TRY(sync::objects::RequestInfo info, sync::objects::parse_request(method, request.path(), query));
  sync::wire::Accept accept = sync::wire::Accept::parse(request.headers.get("accept"));
  const bool impersonates =
      std::any_of(request.headers.begin(), request.headers.end(),
                  [](const http::Header& header) { return http::is_impersonation(header.name); });
  return RoutedRequest{.http = request,
                       .caller = std::move(caller),
                       .info = std::move(info),
                       .query = std::move(query),
                       .accept = accept,
                       .inner_accept = std::move(accept),
                       .impersonates = impersonates};
}

HandlerKind handler_of(const RoutedRequest& request, std::string_view node_name) {
  const sync::objects::RequestInfo& info = request.info;
  if (request.impersonates) {
    const bool dials = info.is_resource && is_passed_on(info);
    return dials ? HandlerKind::dial : HandlerKind::forward;
  }
  const bool read = request.is_read() && !sync::autonomy::is_own_lease(info, node_name);
  if (!read) {
    if (info.is_connect()) return HandlerKind::dial;
    return info.is_resource ? HandlerKind::write : HandlerKind::forward;
  }
  if (!info.is_resource)
    return is_description(request.http.path()) ? HandlerKind::document : HandlerKind::forward;
  if (is_passed_on(info)) return HandlerKind::dial;
  const bool cacheable =
      request.caller.cached && info.subresource.empty() && request.inner_accept.encoding();
  return cacheable ? HandlerKind::read : HandlerKind::forward;
}

}  // namespace holdfast::agent
