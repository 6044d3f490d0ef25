// Handles local writes: forwards them while the cloud is reachable; otherwise accepts those that a
// node may decide alone, and refuses the rest with a reason.
//
// An accepted write is durable before the client gets its answer. Its result is applied to every
// scope that holds the object, so that open watches see it at once.
//
// Threading: the loop's thread only.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/edge/cache/answer_cache.h"
#include "agent/edge/cache/local_versions.h"
#include "agent/edge/cache/scope_content.h"
#include "agent/edge/forward/forwarder.h"
#include "agent/edge/forward/node_lease.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/offline/registration.h"
#include "agent/edge/offline/token_handler.h"
#include "agent/edge/route/deadlines.h"
#include "platform/random.h"

namespace holdfast::agent {

class WriteHandler {
 public:
  WriteHandler(std::string node_name, const Deadlines& deadlines, Scopes& scopes,
               ScopeContent& content, LocalVersions& versions, Uplink& uplink,
               OfflineStore& offline_store, NodeLease& lease, Forwarder& forwarder,
               AnswerCache& answer_cache, Registration& registration, const Clock& clock,
               Random& random);

  // Answers a write of a resource, or any request for the node's own lease (HandlerKind::write).
  asio::awaitable<http::Response> serve(const RoutedRequest& request);

  // Applies the queued writes to the cache again, because a power cut may have lost them there.
  // Errors: the disk's; then the cache lacks changes that the cloud will be sent.
  [[nodiscard]] Status reapply_outbox();

 private:
  // Waits for the end of a rejoin that is about to end, at most as long as for a write that only
  // the API server can accept.
  asio::awaitable<void> wait_for_end_of_rejoin();
  void forget_older(const sync::objects::RequestInfo& info);
  [[nodiscard]] bool is_our_lease(const http::Request& request) const;
  [[nodiscard]] http::Response answer_lease(const RoutedRequest& request);
  // Forwards a lease request of a caller with its own credentials: the API server decides.
  asio::awaitable<http::Response> pass_lease(const RoutedRequest& request);
  [[nodiscard]] http::Response accept(const RoutedRequest& request,
                                      sync::autonomy::Admission admission);
  [[nodiscard]] std::vector<ScopePtr> holders(const sync::objects::RequestInfo& info,
                                              const sync::watch::ObjectKey& object,
                                              bool created) const;
  [[nodiscard]] Status apply(const sync::objects::RequestInfo& info,
                             const sync::autonomy::LocalOutcome& outcome,
                             const std::vector<ScopePtr>& scopes, sync::objects::Version version);
  void tell_kept(const sync::objects::RequestInfo& info, const std::string& uid,
                 std::string_view pod);

  const std::string node_name_;
  const Deadlines deadlines_;
  Scopes& scopes_;
  ScopeContent& content_;
  LocalVersions& versions_;
  Uplink& uplink_;
  OfflineStore& offline_store_;
  NodeLease& lease_;
  Forwarder& forwarder_;
  AnswerCache& answer_cache_;
  Registration& registration_;
  const Clock& clock_;
  Random& random_;
  TokenHandler tokens_;
  std::set<std::string> kept_pods_;  // the uids of those that were told of in this outage
};

}  // namespace holdfast::agent
