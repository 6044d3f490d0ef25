// Keeps answers of the API server to local clients for the time when it cannot be reached: objects
// and lists in scopes, documents and tokens as they were answered.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/cache_query.h"
#include "agent/edge/cache/scope_reflectors.h"
#include "agent/edge/cache/scopes.h"
#include "agent/edge/cache/stored_answers.h"
#include "agent/edge/forward/owners.h"

namespace holdfast::agent {

class AnswerCache {
 public:
  // All parameters must outlive this.
  AnswerCache(Scopes& scopes, StoredAnswers& answers, ScopeReflectors& reflectors,
              const Owners& owners)
      : scopes_(scopes), answers_(answers), reflectors_(reflectors), owners_(owners) {}

  // Whether answers may be kept for this caller: the node, or one that the API server has accepted.
  [[nodiscard]] bool may_keep(const Caller& caller) const;

  // The scope of that key, opened if needed; null if there is no room, which is logged.
  [[nodiscard]] ScopePtr open(const store::ScopeKey& key);

  // Uses the API server's answer to a read: keeps an object, or opens the scope of a list and lets
  // it be listed again if that was refused, or too large, before.
  void keep(CacheQuery& query, const http::Response& response);

  // The API server has answered a caller's write with `response`. If the written object is cached
  // in a scope that is fed by GET, and so would not see the change, the scope takes over the answer
  // or gets the object again. A watched scope of this one object takes over a creation.
  void note_written(const RoutedRequest& request, const http::Response& response);

  // Keeps the answer to a request for a document or a token; `key` is that of store::Answers. Does
  // nothing if it may not be kept for this caller. A failure is logged.
  void put(const RoutedRequest& request, std::string_view key, const store::Answer& answer);
  // The answer kept under that key; nothing if there is none or it cannot be read.
  [[nodiscard]] std::optional<store::Answer> find(const Caller& caller, std::string_view key);

 private:
  void keep_object(const CacheQuery& query, const http::Response& response);

  Scopes& scopes_;
  StoredAnswers& answers_;
  ScopeReflectors& reflectors_;
  const Owners& owners_;
};

// A kept answer as the API server gave it.
[[nodiscard]] http::Response to_response(store::Answer answer);

}  // namespace holdfast::agent
