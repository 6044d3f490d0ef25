// The first list of a scope, while it is under way: who waits for it, and for whom it waits.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/local_scope.h"
#include "agent/edge/forward/uplink_bytes.h"
#include "platform/http/message.h"

namespace holdfast::agent {

// Whether the scope's list is_worth_waiting() for a request that began to wait at `since`.
[[nodiscard]] bool is_arriving(const LocalScope& scope, const UplinkBytes& bytes, MonoTime since,
                               MonoTime now);

// A list of the scope that a local client is getting from the API server; it ends with this. As
// long as it is under way, the scope's own first list waits: the client is served first, and the
// line is not shared by two copies of the same bytes.
class ForwardedList {
 public:
  explicit ForwardedList(ScopePtr scope) : scope_(std::move(scope)) {
    scope_->begin_forwarded_list();
  }
  ~ForwardedList() { scope_->end_forwarded_list(); }
  ForwardedList(const ForwardedList&) = delete;
  ForwardedList& operator=(const ForwardedList&) = delete;

 private:
  ScopePtr scope_;
};

// Lets `list` last until the body of `response` has been read, or is not wanted any more.
void last_until_read(std::unique_ptr<ForwardedList> list, http::Response& response);

}  // namespace holdfast::agent
