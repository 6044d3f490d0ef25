// Takes local writes: passes them on while the cloud is there, accepts what the edge may decide
// alone while it is not, and refuses the rest with a reason.
//
// An accepted write is durable before the client is told, and its result is in every scope that
// holds the object, so that open watches see it at once.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/caller.h"
#include "agent/edge/ledger.h"
#include "agent/edge/node_lease.h"
#include "agent/edge/options.h"
#include "agent/edge/reads.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "platform/random.h"

namespace holdfast::agent {

class Writes {
 public:
  Writes(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, Ledger& ledger,
         NodeLease& lease, Reads& reads, const Clock& clock, Random& random);

  asio::awaitable<http::Response> serve(const http::Request& request, const sync::RequestInfo& info,
                                        const Caller& caller);

  // What the last run accepted and a power cut may have taken from the cache is applied again.
  // Errors: the disk's; the cache then shows less than the cloud will be told.
  [[nodiscard]] Status reapply_outbox();

 private:
  void forget_older(const sync::RequestInfo& info);
  [[nodiscard]] bool is_our_lease(const http::Request& request) const;
  asio::awaitable<http::Response> serve_lease(const http::Request& request);
  // The node's lease for a caller with credentials of its own: the API server decides.
  asio::awaitable<http::Response> pass_lease(const http::Request& request);
  asio::awaitable<http::Response> serve_token(const http::Request& request, const Caller& caller);
  http::Response accept(const http::Request& request, const sync::RequestInfo& info,
                        sync::Admission admission, const Caller& caller);
  [[nodiscard]] std::vector<ScopePtr> holders(const sync::RequestInfo& info,
                                              const sync::ObjectKey& object, bool created) const;
  [[nodiscard]] Status apply(const sync::RequestInfo& info, const sync::LocalOutcome& outcome,
                             const std::vector<ScopePtr>& scopes, sync::Version version);

  const EdgeOptions& options_;
  Scopes& scopes_;
  Uplink& uplink_;
  Ledger& ledger_;
  NodeLease& lease_;
  Reads& reads_;
  const Clock& clock_;
  Random& random_;
};

}  // namespace holdfast::agent
