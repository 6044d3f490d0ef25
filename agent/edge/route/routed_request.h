// A request of a local client, parsed once, and which part of the agent answers it.

#pragma once

#include "agent/edge/route/caller.h"
#include "platform/http/message.h"
#include "platform/query.h"
#include "sync/objects/request_info.h"
#include "sync/wire/accept.h"

namespace holdfast::agent {

struct RoutedRequest {
  const http::Request& http;  // as received; outlives this
  Caller caller;
  sync::objects::RequestInfo info;
  Query query;
  sync::wire::Accept accept;  // what the client accepts
  // What the answer must be before filters and tables are applied to it: `accept`, or less.
  sync::wire::Accept inner_accept;
  // The caller acts as another user (Impersonate-*, X-Remote-*). Only the API server can decide
  // whether it may, and what that user may see: such a request is never answered from what is
  // cached, and its answer is never kept.
  bool impersonates = false;
  // The answer is filtered or printed before the client gets it.
  bool needs_whole_answer = false;
  // The Authorization header is not for the API server: it holds the node's own token.
  bool hides_authorization = false;

  // A get, list or watch of a resource, or a GET or HEAD of another path.
  [[nodiscard]] bool is_read() const;
  [[nodiscard]] bool is_get() const { return info.verb == "get"; }
  [[nodiscard]] bool is_list() const { return info.verb == "list"; }
  [[nodiscard]] bool is_watch() const { return info.verb == "watch"; }
};

// Parses path, query and Accept header. Errors: invalid (the path or the query is malformed).
[[nodiscard]] Result<RoutedRequest> route(const http::Request& request, Caller caller);

// Which part of the agent answers a request.
enum class HandlerKind : std::uint8_t {
  document,  // a document that describes the API, such as discovery
  dial,      // a request that the API server passes on to a kubelet or a pod: exec, logs
  forward,   // a request that only the API server can answer
  read,      // a read of a resource that can be answered from the cache
  write,     // a write of a resource, or any request for the node's own lease
};

[[nodiscard]] HandlerKind handler_of(const RoutedRequest& request, std::string_view node_name);

}  // namespace holdfast::agent
