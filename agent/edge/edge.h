// The whole of holdfast-edge as one object. It opens the data directory, constructs all other parts
// of the agent, and connects them. Its pipeline answers the requests of local clients.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>

#include "agent/client/api_client.h"
#include "agent/edge/admin/admin.h"
#include "agent/edge/admin/ota.h"
#include "agent/edge/cache/local_versions.h"
#include "agent/edge/cache/pod_needs.h"
#include "agent/edge/cache/scope_content.h"
#include "agent/edge/cache/scope_reflectors.h"
#include "agent/edge/cache/stored_answers.h"
#include "agent/edge/door/local_callers.h"
#include "agent/edge/door/pods_interface.h"
#include "agent/edge/door/request_gate.h"
#include "agent/edge/door/tls_listeners.h"
#include "agent/edge/forward/node_lease.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/identity/node_identity.h"
#include "agent/edge/identity/trusted_clock.h"
#include "agent/edge/link/outage_report.h"
#include "agent/edge/link/rejoin.h"
#include "agent/edge/link/scope_journal.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/options/options.h"
#include "agent/edge/pipeline.h"
#include "platform/fs/file.h"
#include "platform/http/server.h"
#include "platform/loop/tasks.h"
#include "platform/proc/service.h"
#include "store/sqlite.h"

namespace holdfast::agent {

class Edge final : public proc::Service {
 public:
  // Opens the data directory and restores what the last run left. Nothing runs yet. Errors:
  // conflict (another agent uses the directory), invalid (kubeconfig), the disk's.
  [[nodiscard]] static Result<std::unique_ptr<Edge>> make(asio::any_io_executor executor,
                                                          const EdgeOptions& options,
                                                          const Clock& clock);
  ~Edge() override;

  // Opens the listeners and starts all tasks. Errors: unavailable (an address is in use), invalid
  // (an --admin-listen that needs TLS without a certificate authority).
  [[nodiscard]] Status start() override;

  // Stops: requests under way are answered until `deadline`, then unwritten changes of the cache
  // are written.
  asio::awaitable<void> stop(MonoTime deadline) override;

  // Answers a request at the plain proxy listener.
  asio::awaitable<http::Response> handle(const http::Request& request);
  // Answers a request at the TLS listeners of the proxy.
  asio::awaitable<http::Response> handle_over_tls(const http::Request& request);

  [[nodiscard]] ScopeTable& scopes() { return *scope_table_; }
  [[nodiscard]] Uplink& uplink() { return *uplink_; }
  [[nodiscard]] OfflineStore& offline_store() { return *offline_store_; }
  [[nodiscard]] const EdgeOptions& options() const { return options_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::uint16_t admin_port() const { return admin_port_; }

 private:
  Edge(asio::any_io_executor executor, const EdgeOptions& options, const Clock& clock,
       fs::FileLock lock);
  [[nodiscard]] Status open_cache();
  [[nodiscard]] Status build();
  [[nodiscard]] Result<std::uint16_t> listen(std::unique_ptr<http::Server>& server,
                                             const std::string& address, Listener listener,
                                             http::Handler handler);
  asio::awaitable<http::Response> serve(Listener listener, const http::Request& request);
  asio::awaitable<http::Response> handle_admin(const http::Request& request, Listener listener);
  [[nodiscard]] Status open_listeners();
  [[nodiscard]] Status open_admin();
  // Opens the TLS listeners of the proxy.
  [[nodiscard]] Status open_tls_listeners();
  void report_refusals();
  // Uses a new serving certificate or authority at all TLS listeners.
  [[nodiscard]] Status refresh_tls_listeners();
  void listen_for_pods();
  // Writes changes of the cache every --flush-interval, and notices suspends of the machine.
  asio::awaitable<void> flush_in_groups();

  // Each member is declared after those that it holds references to; only callbacks refer to later
  // ones.
  asio::any_io_executor executor_;
  const EdgeOptions& options_;
  TrustedClock trusted_clock_;
  const Clock& clock_;  // trusted_clock_; all members below use it
  Random random_;
  fs::FileLock lock_;
  std::unique_ptr<store::Seal> seal_;  // null: the cache is not encrypted
  std::unique_ptr<CacheFile> cache_file_;
  std::unique_ptr<NodeIdentity> identity_;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<Uplink> uplink_;
  std::unique_ptr<StoredAnswers> answers_;
  std::unique_ptr<LocalVersions> versions_;
  std::unique_ptr<ScopeTable> scope_table_;
  std::unique_ptr<Scopes> scopes_;
  std::unique_ptr<ScopeContent> content_;
  std::unique_ptr<OfflineStore> offline_store_;
  std::unique_ptr<NodeLease> lease_;
  std::unique_ptr<Registration> registration_;
  std::unique_ptr<ScopeJournal> scope_journal_;
  std::unique_ptr<ScopeReflectors> reflectors_;
  std::unique_ptr<AnswerFilters> filters_;
  std::unique_ptr<OutageReport> outages_;
  std::unique_ptr<Rejoin> rejoin_;
  std::unique_ptr<Ota> ota_;
  std::unique_ptr<PodNeeds> needs_;
  std::unique_ptr<Housekeeping> housekeeping_;
  std::unique_ptr<Admin> admin_;
  std::unique_ptr<LocalCallers> local_callers_;
  std::unique_ptr<RequestGate> gate_;
  std::unique_ptr<HubMetrics> hub_metrics_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> admin_server_;
  std::unique_ptr<TlsListeners> tls_listeners_;
  std::unique_ptr<TlsListeners> admin_tls_;        // only with an --admin-listen beyond loopback
  std::unique_ptr<PodsInterface> pods_interface_;  // null: not configured
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
