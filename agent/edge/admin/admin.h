// The pages of the admin listener: health, state and journal of the agent, for people, probes and
// holdfastctl. All are read-only, except the endpoints of ota.h, which are also served here.
//
// GET /healthz, /livez    200 while the agent runs
// GET /readyz             200 if it can answer: the link is connected or something is cached
// GET /metrics            metrics in Prometheus' format
// GET /v1/status          node, link, outbox and cache in numbers
// GET /v1/link            the link's state, since when, and why
// GET /v1/scopes          what is cached, whether it is complete, and how fresh it is
// GET /v1/objects         ?resource=pods: the cached objects themselves; Secrets without values
// GET /v1/ready           which pods would start after a reboot without the cloud, and why not
// GET /v1/journal         ?from=SEQ&limit=N&subject=S: decisions and their reasons
//
// The caller has passed RequestGate::refuse_admin(). Threading: the loop's thread only.

#pragma once

#include "agent/edge/admin/ota.h"
#include "agent/edge/cache/housekeeping.h"
#include "agent/edge/cache/outage_readiness.h"
#include "agent/edge/cache/scope_table.h"
#include "agent/edge/forward/node_lease.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/identity/node_identity.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/offline/registration.h"
#include "platform/http/message.h"
#include "platform/http/server.h"
#include "platform/metrics.h"

namespace holdfast::agent {

class Admin {
 public:
  Admin(std::string node_name, ScopeTable& scopes, StoredAnswers& answers, Uplink& uplink,
        OfflineStore& offline_store, const NodeLease& lease, const Clock& clock);

  // Sets the identity whose certificates are reported. It must outlive this.
  void report_certificates(const NodeIdentity& identity) { identity_ = &identity; }
  // Sets the registration that is reported. It must outlive this.
  void report_registration(const Registration& registration) { registration_ = &registration; }
  // Also serves the pages of `ota`, which must outlive this.
  void serve(Ota& ota) { ota_ = &ota; }
  // The metrics registry, to which other parts of the agent add theirs.
  [[nodiscard]] Metrics& registry() { return metrics_; }
  // Sets the databases whose written bytes are reported. They must outlive this.
  void report_databases(std::vector<store::Database*> databases) {
    databases_ = std::move(databases);
  }
  // Adds a listener, by name, whose refused connections and requests are reported.
  using CountRefusals = std::function<http::Refusals()>;
  void report_refusals(std::string listener, CountRefusals count) {
    refusals_.emplace_back(std::move(listener), std::move(count));
  }
  // Sets the Housekeeping whose dropped scopes are reported, by reason. It must outlive this.
  void report_dropped(const Housekeeping& housekeeping) { housekeeping_ = &housekeeping; }

  asio::awaitable<http::Response> handle(const http::Request& request);

 private:
  http::Response answer(const http::Request& request, const Query& query);
  [[nodiscard]] http::Response ready() const;
  [[nodiscard]] http::Response status();
  [[nodiscard]] http::Response metrics();
  void counter(const std::string& name, const std::string& help, const MetricLabels& labels,
               std::uint64_t count);
  void count_uplink();
  void count_disk();
  void count_refusals();
  void count_readiness();
  [[nodiscard]] http::Response link() const;
  [[nodiscard]] http::Response scopes() const;
  [[nodiscard]] http::Response objects(const Query& query) const;
  [[nodiscard]] http::Response journal(const Query& query);

  const std::string node_name_;
  ScopeTable& scopes_;
  Uplink& uplink_;
  OfflineStore& offline_store_;
  const NodeLease& lease_;
  const Clock& clock_;
  const NodeIdentity* identity_ = nullptr;
  const Registration* registration_ = nullptr;
  Ota* ota_ = nullptr;
  const Housekeeping* housekeeping_ = nullptr;
  std::vector<store::Database*> databases_;
  std::vector<std::pair<std::string, CountRefusals>> refusals_;
  OutageReadiness readiness_;
  Metrics metrics_;
  std::map<std::pair<std::string, MetricLabels>, std::uint64_t> counted_;
};

}  // namespace holdfast::agent
