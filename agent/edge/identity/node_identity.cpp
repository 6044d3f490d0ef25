#include "agent/edge/identity/node_identity.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "agent/edge/identity/cluster.h"
#include "agent/edge/options/pods_address.h"
#include "platform/check.h"
#include "platform/http/date.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/tls/signer.h"
#include "platform/version.h"

namespace holdfast::agent {
namespace {

using sync::identity::rotate::Credentials;

constexpr auto request_limit = std::chrono::seconds(10);
constexpr auto reread_interval = std::chrono::minutes(5);  // as client-go has it
constexpr std::size_t command_line_limit = 1U << 20;
constexpr auto self_signed_lifetime = std::chrono::hours(24 * 365);

bool is_address(const std::string& text) {
  boost::system::error_code ec;
  (void)asio::ip::make_address(text, ec);
  return !ec;
}

bool is_any(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

tls::Names names_of(const std::string& node_name) {
  return {.common_name = sync::identity::node_user(node_name),
          .organizations = {std::string(sync::identity::nodes_group)}};
}

// All names and addresses by which callers may address the listener.
tls::Names serving_names(const std::string& node_name, const IdentityOptions& options) {
  tls::Names names = names_of(node_name);
  std::vector<std::string> all{node_name};
  const auto at = net::HostPort::parse(options.secure_listen);
  if (at && !is_any(at->host)) all.push_back(at->host);
  if (const auto pods = pods_address(options)) {
    if (std::find(all.begin(), all.end(), pods->host) == all.end()) all.push_back(pods->host);
    // kube-proxy also sends requests for the service "kubernetes" here (forwardkubesvctraffic).
    all.insert(all.end(), {"kubernetes", "kubernetes.default", "kubernetes.default.svc",
                           "kubernetes.default.svc.cluster.local"});
  }
  all.insert(all.end(), options.serving_names.begin(), options.serving_names.end());
  for (const std::string& name : all) {
    names.alternatives.push_back((is_address(name) ? "IP:" : "DNS:") + name);
  }
  return names;
}

// Every user of the machine can read the command line.
void warn_of_visible_token(const IdentityOptions& options) {
  if (options.join_token.empty()) return;
  const auto line = fs::read_all("/proc/self/cmdline", command_line_limit);
  if (line && line->find(options.join_token) == std::string::npos) return;
  log_warn("--join-token can be seen by every user of this machine (ps): use --join-token-file");
}

}  // namespace

NodeIdentity::NodeIdentity(asio::any_io_executor executor, Settings settings, PkiDir pki,
                           TrustedClock& clock, Random& random)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      pki_(std::move(pki)),
      clock_(clock),
      changed_(executor_) {
  make_managers(random);
}

Result<std::unique_ptr<NodeIdentity>> NodeIdentity::open(asio::any_io_executor executor,
                                                         Settings settings, TrustedClock& clock,
                                                         Random& random) {
  TRY(PkiDir pki, PkiDir::open(settings.data_dir));
  std::unique_ptr<NodeIdentity> made(
      new NodeIdentity(std::move(executor), std::move(settings), std::move(pki), clock, random));
  if (auto found = made->find_cluster(); !found) return fail(found.error());
  return made;
}

void NodeIdentity::make_managers(Random& random) {
  const auto changed = [this](const tls::Identity&, const tls::Certificate& certificate) {
    clock_.raise_to(certificate.not_before);
    apply();
  };
  if (settings_.options.enrols()) {
    CertificateManager::Spec spec{sync::identity::CertificateUse::client,
                                  names_of(settings_.node_name)};
    client_manager_ = std::make_unique<CertificateManager>(executor_, std::move(spec), pki_, *this,
                                                           clock_, random);
    client_manager_->on_change(changed);
    if (client_manager_->certificate()) clock_.raise_to(client_manager_->certificate()->not_before);
  }
  if (settings_.options.secure_listen.empty() && !pods_address(settings_.options)) return;
  CertificateManager::Spec spec{sync::identity::CertificateUse::serving,
                                serving_names(settings_.node_name, settings_.options)};
  // Without it the listener uses a self-signed certificate, so a retry is not urgent.
  spec.rotation.bootstraps = false;
  spec.rotation.backoff.most = std::chrono::minutes(10);
  serving_manager_ =
      std::make_unique<CertificateManager>(executor_, std::move(spec), pki_, *this, clock_, random);
  serving_manager_->on_change([this](const tls::Identity&, const tls::Certificate&) {
    if (on_serving_) on_serving_();
  });
}

Status NodeIdentity::find_cluster() {
  auto found = read_access(settings_.options);
  const bool gone = !found && found.error().code == Errc::not_found;
  if (gone && client_manager_ && client_manager_->held()) {
    auto known = pki_.load_cluster();
    if (known) {
      log_warn("using the cluster address of the last run", {{"why", found.error()}});
      found = std::move(known);
      found->environment = settings_.options.proxies;
      if (auto set = override_servers(settings_.options, *found); !set) return set;
    }
  }
  if (!found) return fail(found.error());
  access_ = *std::move(found);
  log_warnings_about(access_);
  warn_of_visible_token(settings_.options);
  access_.tls_settings.now = [clock = &clock_] { return clock->wall(); };
  if (!client_manager_) return {};
  // The bootstrap credentials only request certificates; the client must not use them.
  access_.token.clear();
  access_.token_file.clear();
  access_.plugin.reset();
  access_.tls_settings.identity = {};
  if (!is_pinned()) return {};
  TRY(const auto learnt, pki_.load_authority());
  if (!learnt) return {};
  TRY(const std::string wanted, parse_ca_hash(settings_.options.ca_hash));
  const auto read = tls::read_certificate(*learnt);
  // If another authority was pinned since, it is fetched again.
  if (read && read->public_key_sha256 == wanted) access_.tls_settings.ca_pem = *learnt;
  return {};
}

Result<std::unique_ptr<ApiClient>> NodeIdentity::make_client(std::string user_agent) {
  CHECK(client_ == nullptr);
  // The uplink reads 2xx answers as streams within its own limits; all other answers are read whole
  // here.
  http::ClientLimits limits;
  limits.reader.body_bytes = AnswerLimits{}.error_bytes;
  TRY(std::unique_ptr<ApiClient> made,
      ApiClient::make(access_, clock_, std::move(user_agent), limits));
  client_ = made.get();
  if (client_manager_) apply();
  return made;
}

// Gives the client the current credentials, or blocks it while there are none.
void NodeIdentity::apply() {
  CHECK(client_ != nullptr);
  if (is_pinned() && authority().empty()) {
    client_->hold("the cluster's authority is not known yet");
    return;
  }
  if (!client_manager_->held()) {
    client_->hold("the node has no client certificate yet");
    return;
  }
  access_.tls_settings.identity = *client_manager_->held();
  if (auto adopted = client_->adopt(access_); !adopted) {
    log_error("new certificate not used", {{"error", adopted.error()}});
    return;
  }
  changed_.notify_all();
  if (auto kept = pki_.store_cluster(access_); !kept) {
    log_error("cluster address not stored", {{"error", kept.error()}});
  }
}

asio::awaitable<void> NodeIdentity::keep_client_certificate() {
  if (client_manager_) co_await client_manager_->run();
  co_await follow_kubeconfig();
}

asio::awaitable<void> NodeIdentity::follow_kubeconfig() {
  for (;;) {
    const MonoTime next = clock_.mono() + reread_interval;
    (void)co_await changed_.wait_until(next);
    read_kubeconfig_again();
  }
}

void NodeIdentity::read_kubeconfig_again() {
  auto fresh = read_access(settings_.options);
  if (!fresh) {
    log_warn("kubeconfig unreadable, keeping the previous settings", {{"error", fresh.error()}});
    return;
  }
  fresh->tls_settings.now = access_.tls_settings.now;
  const tls::ClientSettings& now = fresh->tls_settings;
  const tls::ClientSettings& before = access_.tls_settings;
  const bool same = now.identity.certificate_pem == before.identity.certificate_pem &&
                    now.identity.key_pem == before.identity.key_pem &&
                    now.ca_pem == before.ca_pem && now.server_name == before.server_name &&
                    now.insecure == before.insecure && fresh->servers() == access_.servers() &&
                    fresh->proxy_url == access_.proxy_url && fresh->token == access_.token &&
                    fresh->token_file == access_.token_file && fresh->has_same_plugin(access_) &&
                    fresh->disable_compression == access_.disable_compression;
  if (same) return;
  // The plug-in keeps the credential that it gave.
  if (fresh->has_same_plugin(access_)) fresh->plugin = access_.plugin;
  // The files are replaced one by one: a certificate and key that do not match yet will match soon.
  if (auto adopted = client_->adopt(*fresh); !adopted) {
    log_warn("changed kubeconfig not used", {{"error", adopted.error()}});
    return;
  }
  access_ = *std::move(fresh);
  log_info("kubeconfig changed");
}

asio::awaitable<void> NodeIdentity::keep_serving_certificate() {
  // A serving certificate can only be requested over TLS and with the node's client certificate.
  if (!serving_manager_ || !access_.tls) co_return;
  while (client_manager_ && !client_manager_->held()) co_await changed_.wait();
  co_await serving_manager_->run();
}

asio::awaitable<Status> NodeIdentity::discover_cluster() {
  Status done;
  if (!is_pinned() || !authority().empty()) co_return done;
  const MonoTime deadline = clock_.mono() + request_limit;
  const std::size_t server = tries_++;
  CO_TRY(const std::string pem,
         co_await learn_authority(settings_.options, clock_, deadline, server));
  access_.tls_settings.ca_pem = pem;
  if (auto stored = pki_.store_authority(pem); !stored) co_return stored;
  log_info("certificate authority fetched");
  apply();
  if (on_serving_) on_serving_();
  co_return done;
}

asio::awaitable<Result<std::string>> NodeIdentity::call(Credentials with, ApiRequest request) {
  const Status learnt = co_await discover_cluster();
  if (!learnt) co_return fail(learnt.error());
  const MonoTime deadline = clock_.mono() + request_limit;
  if (with == Credentials::bootstrap) {
    co_return co_await call_as_bootstrapper(std::move(request), deadline);
  }
  co_return co_await client_->call(std::move(request), deadline);
}

asio::awaitable<Result<std::string>> NodeIdentity::call_as_bootstrapper(ApiRequest request,
                                                                        MonoTime deadline) {
  // Read again at each call: the bootstrap credentials may have been replaced.
  auto access = read_access(settings_.options);
  if (!access) co_return fail("bootstrap credentials", access.error());
  ClusterAccess before;
  before.plugin = bootstrap_plugin_;
  if (access->has_same_plugin(before)) access->plugin = bootstrap_plugin_;
  bootstrap_plugin_ = access->plugin;
  if (is_pinned()) access->tls_settings.ca_pem = authority();
  access->tls_settings.now = access_.tls_settings.now;
  std::string agent = "holdfast-edge/" + std::string(version);
  CO_TRY(const std::unique_ptr<ApiClient> client,
         ApiClient::make(*std::move(access), clock_, std::move(agent)));
  client->prefer(tries_);
  auto answer = co_await client->call(std::move(request), deadline);
  if (!answer) ++tries_;
  co_return answer;
}

Result<tls::Identity> NodeIdentity::serving() {
  CHECK(serving_manager_ != nullptr);
  if (serving_manager_->held()) return *serving_manager_->held();
  if (!self_signed_) {
    const WallTime now = clock_.wall();
    const tls::Grant grant{.not_before = now - std::chrono::hours(1),
                           .not_after = now + self_signed_lifetime,
                           .for_server = true};
    TRY(self_signed_,
        tls::make_self_signed(serving_names(settings_.node_name, settings_.options), grant));
  }
  return *self_signed_;
}

std::optional<WallTime> NodeIdentity::ends(sync::identity::CertificateUse use) const {
  const auto& manager =
      use == sync::identity::CertificateUse::client ? client_manager_ : serving_manager_;
  if (!manager || !manager->certificate()) return std::nullopt;
  return manager->certificate()->not_after;
}

void NodeIdentity::answered(const http::Response& response) {
  if (!access_.tls || access_.tls_settings.insecure) return;  // The server is not authenticated.
  if (const auto time = http::parse_date(response.headers.get("date")))
    clock_.set_from_server(*time);
}

void NodeIdentity::unauthorized() {
  if (client_manager_) {
    client_manager_->refused();
  } else {
    changed_.notify_all();
  }
}

}  // namespace holdfast::agent
