// A read of a resource, as a question to the cache.

#pragma once

#include "agent/edge/cache/scopes.h"
#include "agent/edge/route/routed_request.h"
#include "sync/objects/list_options.h"
#include "sync/objects/version.h"

namespace holdfast::agent {

struct CacheQuery {
  const RoutedRequest& request;  // outlives this
  store::ScopeKey key;           // of the scope for exactly this request
  ScopePtr scope = {};           // answers it, may be a wider one; null: there is none
  // Of a get only the resourceVersion is set; nothing is if the options are refused.
  sync::objects::ListOptions options = {};
  sync::objects::Version version = 0;  // the resourceVersion of the options
  // The answer of an API server that refuses the options. It is only sent in place of an answer
  // from the cache: an API server of another version may accept them.
  std::optional<sync::wire::ApiStatus> refusal = {};
  MonoTime began = {};  // when the request arrived
  bool newest = false;  // the newest state is wanted, which only the cloud knows
  bool asked = false;   // the cloud was asked already and did not answer

  [[nodiscard]] sync::watch::ObjectKey object() const {
    return {key.namespace_name, request.info.name};
  }
};

// `encoding` is that of the answer. Equal requests get the same key, whatever the spelling of their
// selectors.
[[nodiscard]] CacheQuery query_of(const RoutedRequest& request, sync::wire::Encoding encoding);

}  // namespace holdfast::agent
