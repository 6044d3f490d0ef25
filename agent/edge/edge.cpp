#include "agent/edge/edge.h"

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/door/identify.h"
#include "agent/edge/identity/cache_seal.h"
#include "agent/edge/room_settings.h"
#include "agent/edge/route/answer.h"
#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/loop/randomness.h"
#include "platform/loop/timer.h"
#include "platform/version.h"
#include "store/recover.h"
#include "store/reseal.h"

namespace holdfast::agent {
namespace {

std::filesystem::path in(const EdgeOptions& options, const char* name) {
  return std::filesystem::path(options.data_dir) / name;
}

}  // namespace

Edge::Edge(asio::any_io_executor executor, const EdgeOptions& options, const Clock& clock,
           fs::FileLock lock)
    : executor_(executor),
      options_(options),
      trusted_clock_(clock, in(options, "time-floor")),
      clock_(trusted_clock_),
      random_(loop::make_random(executor)),
      lock_(std::move(lock)),
      tasks_(std::move(executor)) {}

Edge::~Edge() = default;

Result<std::unique_ptr<Edge>> Edge::make(asio::any_io_executor executor, const EdgeOptions& options,
                                         const Clock& clock) {
  if (auto made = fs::ensure_own_dir(options.data_dir); !made) {
    return fail("--data-dir", made.error());
  }
  TRY(fs::FileLock lock, fs::FileLock::take(in(options, "lock")));
  std::unique_ptr<Edge> edge(new Edge(std::move(executor), options, clock, std::move(lock)));
  if (auto opened = edge->open_cache(); !opened) return fail(opened.error());
  TRY(edge->offline_store_, OfflineStore::open(in(options, "outbox.db"), edge->clock_));
  if (auto built = edge->build(); !built) return fail(built.error());
  return edge;
}

Status Edge::open_cache() {
  if (const std::string& file = options_.identity.cache_key_file; !file.empty()) {
    TRY(seal_, read_cache_key(file));
  }
  TRY(cache_file_, CacheFile::open(in(options_, "cache.db"), clock_, sealing_with(seal_.get())));
  answers_ = std::make_unique<StoredAnswers>(*cache_file_, clock_);
  versions_ = std::make_unique<LocalVersions>(*cache_file_);
  scope_table_ = std::make_unique<ScopeTable>(executor_, clock_, cache_limits(options_));
  scopes_ = std::make_unique<Scopes>(*scope_table_, *cache_file_, *answers_, clock_);
  content_ = std::make_unique<ScopeContent>(*scope_table_, *scopes_, *answers_, clock_);
  return scopes_->restore();
}

Status Edge::build() {
  const NodeIdentity::Settings identity_settings{options_.identity, options_.node_name,
                                                 options_.data_dir};
  TRY(identity_, NodeIdentity::open(executor_, identity_settings, trusted_clock_, random_));
  TRY(client_, identity_->make_client("holdfast-edge/" + std::string(version)));
  TRY(const UplinkSettings settings, uplink_settings(options_));
  uplink_ = std::make_unique<Uplink>(executor_, settings, *client_, clock_, random_);
  uplink_->observe(*identity_);
  lease_ = std::make_unique<NodeLease>(options_.node_name, options_.lease_duration,
                                       options_.kubelet_grace, clock_);
  scope_journal_ = std::make_unique<ScopeJournal>(*offline_store_, clock_);
  reflectors_ = std::make_unique<ScopeReflectors>(
      executor_, *scope_table_, *content_, *uplink_,
      [journal = scope_journal_.get()](const LocalScope& scope) { journal->record(scope); }, clock_,
      random_);
  filters_ = std::make_unique<AnswerFilters>(executor_, options_, *scopes_, *uplink_, clock_);
  filters_->start();
  registration_ = std::make_unique<Registration>(options_.node_name, *answers_, *uplink_,
                                                 *offline_store_, clock_, random_);
  rejoin_ = std::make_unique<Rejoin>(
      Rejoin::Settings{.node_name = options_.node_name,
                       .lease_renew_interval = options_.lease_renew_interval,
                       .jitter = options_.rejoin_jitter},
      *scope_table_, *uplink_, *reflectors_, *offline_store_, *lease_, *registration_, clock_,
      random_);
  outages_ = std::make_unique<OutageReport>(*uplink_, *offline_store_, clock_);
  outages_->resume();
  const std::vector databases{&cache_file_->database(), &offline_store_->database()};
  needs_ = std::make_unique<PodNeeds>(options_.node_name, *scopes_, *reflectors_, clock_);
  housekeeping_ = std::make_unique<Housekeeping>(
      Housekeeping::Settings{.interval = options_.housekeeping_interval,
                             .limits = options_.housekeeping},
      *scopes_, *answers_, *uplink_, *needs_, databases, clock_);
  admin_ = std::make_unique<Admin>(options_.node_name, *scope_table_, *answers_, *uplink_,
                                   *offline_store_, *lease_, clock_);
  admin_->report_certificates(*identity_);
  admin_->report_registration(*registration_);
  Ota::Settings ota{
      .node_name = options_.node_name,
      .deadline = options_.write_deadline,
      .folders = {.manifests = options_.static_pod_path, .kept = in(options_, "static-pods")}};
  ota_ = std::make_unique<Ota>(std::move(ota), *scope_table_, *uplink_, clock_);
  admin_->serve(*ota_);
  hub_metrics_ = std::make_unique<HubMetrics>(admin_->registry());
  local_callers_ = std::make_unique<LocalCallers>(options_, clock_);
  TRY(std::string node_token, load_node_token(options_));
  gate_ = std::make_unique<RequestGate>(options_, *local_callers_, std::move(node_token),
                                        admin_->registry());
  admin_->report_dropped(*housekeeping_);
  admin_->report_databases(databases);
  pipeline_ = std::make_unique<Pipeline>(Pipeline::Dependencies{
      options_, *scopes_, *content_, *answers_, *versions_, *uplink_, *reflectors_, *filters_,
      *offline_store_, *lease_, *registration_, *housekeeping_, *hub_metrics_, clock_, random_});
  if (auto applied = pipeline_->reapply_outbox(); !applied) {
    // The queued writes are safe in the outbox; a node that does not start would be worse.
    log_error("queued writes not applied to the cache", {{"error", applied.error()}});
  }
  return {};
}

Result<std::uint16_t> Edge::listen(std::unique_ptr<http::Server>& server,
                                   const std::string& address, Listener listener,
                                   http::Handler handler) {
  TRY(const net::HostPort at, net::HostPort::parse(address));
  TRY(std::unique_ptr<net::Listener> opened, net::Listener::open(executor_, at, nullptr));
  const std::uint16_t port = opened->port();
  server = std::make_unique<http::Server>(executor_, limits_of(listener), std::move(handler),
                                          status_problem, gate_->gate_of(listener));
  server->listen(std::move(opened));
  return port;
}

Status Edge::open_listeners() {
  const auto proxy = [this](const http::Request& request) { return handle(request); };
  TRY(port_, listen(server_, options_.listen, Listener::proxy, proxy));
  if (auto opened = open_admin(); !opened) return opened;
  TRY(net::HostPort proxy_at, net::HostPort::parse(options_.listen));
  TRY(net::HostPort admin_at, net::HostPort::parse(options_.admin_listen));
  proxy_at.port = port_;
  admin_at.port = admin_port_;
  if (auto written = write_endpoints(options_.data_dir, {proxy_at, admin_at}); !written) {
    return fail("--data-dir", written.error());
  }
  if (auto opened = open_tls_listeners(); !opened) return opened;
  report_refusals();
  return {};
}

void Edge::report_refusals() {
  admin_->report_refusals("proxy", [this] { return server_->refusals(); });
  admin_->report_refusals("tls", [this] { return tls_listeners_->refusals(); });
  admin_->report_refusals(
      "admin", [this] { return admin_tls_ ? admin_tls_->refusals() : admin_server_->refusals(); });
}

// Opens the admin listener. Beyond loopback, callers can only be identified by certificates over
// TLS.
Status Edge::open_admin() {
  TRY(const net::HostPort at, net::HostPort::parse(options_.admin_listen));
  const Listener listener = at.is_loopback() ? Listener::admin : Listener::admin_tls;
  const auto admin = [this, listener](const http::Request& request) {
    return handle_admin(request, listener);
  };
  if (listener == Listener::admin) {
    TRY(admin_port_, listen(admin_server_, options_.admin_listen, listener, admin));
    return {};
  }
  if (identity_->authority().empty() && !options_.identity.enrols()) {
    return fail(Errc::invalid, "--admin-listen " + options_.admin_listen +
                                   ": beyond loopback it needs TLS with client certificates, and "
                                   "the kubeconfig names no certificate authority");
  }
  admin_tls_ = std::make_unique<TlsListeners>(
      executor_, std::vector<TlsListeners::Address>{{.flag = "--admin-listen", .at = at}},
      *identity_, clock_, admin, gate_->gate_of(listener), limits_of(listener));
  if (auto opened = admin_tls_->refresh(); !opened) return opened;
  admin_port_ = admin_tls_->port() != 0 ? admin_tls_->port() : at.port;
  return {};
}

Status Edge::start() {
  if (pods_address(options_.identity)) {
    pods_interface_ =
        std::make_unique<PodsInterface>(options_.identity, net::kernel_interfaces(), clock_);
  }
  if (auto opened = open_listeners(); !opened) return opened;
  tasks_.spawn("feed scopes", reflectors_->feed_all());
  tasks_.spawn("client certificate", identity_->keep_client_certificate());
  tasks_.spawn("serving certificate", identity_->keep_serving_certificate());
  tasks_.spawn("keep link", rejoin_->maintain_link());
  tasks_.spawn("outages", outages_->run());
  tasks_.spawn("keep replaying", rejoin_->replay_when_due());
  tasks_.spawn("check node", rejoin_->check_node_when_due());
  tasks_.spawn("keep servers", rejoin_->probe_servers());
  tasks_.spawn("network", uplink_->follow_network());
  tasks_.spawn("flush", flush_in_groups());
  tasks_.spawn("filters", filters_->keep_up());
  tasks_.spawn("what pods need", needs_->follow());
  tasks_.spawn("housekeeping", housekeeping_->run());
  if (pods_interface_) {
    tasks_.spawn("interface for pods", pods_interface_->keep([this] { listen_for_pods(); }));
  }
  log_info("serving", {{"node", options_.node_name},
                       {"proxy_port", port_},
                       {"admin_port", admin_port_},
                       {"scopes", scope_table_->all().size()}});
  return {};
}

Status Edge::open_tls_listeners() {
  const auto handler = [this](const http::Request& request) { return handle_over_tls(request); };
  tls_listeners_ = std::make_unique<TlsListeners>(
      executor_, tls_addresses(options_.identity), *identity_, clock_, handler,
      gate_->gate_of(Listener::tls), limits_of(Listener::tls));
  identity_->on_serving_change([this] {
    if (auto changed = refresh_tls_listeners(); !changed) {
      log_error("new serving certificate not used", {{"error", changed.error()}});
    }
  });
  if (pods_interface_ && pods_interface_->ensure()) {
    tls_listeners_->add(*tls_address_of_pods(options_.identity));
    filters_->use_pods_address();
  }
  return tls_listeners_->refresh();
}

Status Edge::refresh_tls_listeners() {
  if (auto changed = tls_listeners_->refresh(); !changed) return changed;
  return admin_tls_ ? admin_tls_->refresh() : Status();
}

// Called when the interface for pods could only be made after the start.
void Edge::listen_for_pods() {
  tls_listeners_->add(*tls_address_of_pods(options_.identity));
  if (auto opened = tls_listeners_->refresh(); !opened) {
    log_error("listener for pods not opened", {{"error", opened.error()}});
    return;
  }
  filters_->use_pods_address();
}

asio::awaitable<void> Edge::flush_in_groups() {
  // Timers stop while the machine is suspended; the clock does not. A late timer shows a suspend,
  // after which the link must be probed.
  constexpr auto slept = std::chrono::seconds(5);
  for (;;) {
    const MonoTime due = clock_.mono() + options_.flush_interval;
    co_await loop::sleep_until(due);
    if (clock_.mono() - due > slept) uplink_->probe_now();
    trusted_clock_.keep();
    if (auto flushed = scopes_->flush(); !flushed) {
      log_error("cache write failed", {{"error", flushed.error()}});
    }
  }
}

asio::awaitable<void> Edge::stop(MonoTime deadline) {
  // First no new requests, then no tasks, then nothing that feeds the cache; last it is written.
  if (server_) co_await server_->stop(deadline);
  if (tls_listeners_) co_await tls_listeners_->stop(deadline);
  if (admin_server_) co_await admin_server_->stop(deadline);
  if (admin_tls_) co_await admin_tls_->stop(deadline);
  tasks_.cancel();
  co_await tasks_.join();
  if (pods_interface_) pods_interface_->remove();
  co_await rejoin_->join();
  reflectors_->cancel();
  co_await reflectors_->join();
  // The lists that are in memory are lost now, so that a damaged file must be replaced before.
  if (auto checked = scopes_->check_file(); !checked) {
    log_error("cache not checked", {{"error", checked.error()}});
  }
  if (auto flushed = scopes_->flush_versions(); !flushed) {
    log_error("cache write failed", {{"error", flushed.error()}});
  }
}

asio::awaitable<http::Response> Edge::handle(const http::Request& request) {
  return serve(Listener::proxy, request);
}

asio::awaitable<http::Response> Edge::handle_over_tls(const http::Request& request) {
  return serve(Listener::tls, request);
}

asio::awaitable<http::Response> Edge::serve(Listener listener, const http::Request& request) {
  return pipeline_->serve(request, gate_->identify_at(listener, request),
                          gate_->has_node_token(request));
}

asio::awaitable<http::Response> Edge::handle_admin(const http::Request& request,
                                                   Listener listener) {
  auto refusal = gate_->refuse_admin(listener, request);
  if (refusal) co_return *std::move(refusal);
  if (!gate_->has_node_token(request)) co_return co_await admin_->handle(request);
  http::Request own = request;
  own.headers.remove("authorization");
  co_return co_await admin_->handle(own);
}

}  // namespace holdfast::agent
