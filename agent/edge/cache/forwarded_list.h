// Marks a scope whose list a local client is getting from the API server. As long as such a list is
// under way, the scope's own first list waits: the client is served first, and the line is not
// shared by two copies of the same bytes.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/local_scope.h"
#include "platform/http/message.h"

namespace holdfast::agent {

// One such list. It ends with this.
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
