#include "agent/lab/guest/host.h"

#include <filesystem>

#include "platform/loop/timer.h"
#include "platform/proc/notify.h"
#include "platform/proxy/rules.h"
#include "platform/text.h"
#include "platform/tls/certificate.h"
#include "sync/identity/csr.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab::guest {
namespace {

using namespace std::chrono_literals;
namespace json = sync::json;
namespace identity = sync::identity;

constexpr Duration host_call_limit = 10s;
constexpr Duration sign_limit = 30s;
constexpr Duration sign_poll = 200ms;

std::string server_text(const ClusterAccess& access) {
  return (access.tls ? "https://" : "http://") + access.server.text() + access.path_prefix;
}

bool has_credentials(const ClusterAccess& access) {
  return !access.token.empty() || !access.token_file.empty() || access.plugin ||
         !access.tls_settings.identity.certificate_pem.empty();
}

// Adds what the run's own object needs to the body of a CertificateSigningRequest.
std::string marked_request(const Guest& guest, const std::string& node, const std::string& body) {
  json::value value = sync::wire::parse_json(body).value_or(json::object());
  json::object& metadata = value.as_object()["metadata"].as_object();
  metadata = json::object{{"name", node}};
  guest.mark(metadata);
  return sync::wire::serialize(value.as_object());
}

std::string unsigned_text() {
  return "the cluster has not signed it within " + format_duration(sign_limit) + "; its signer " +
         std::string(identity::signer_of(identity::CertificateUse::client)) + " may not run";
}

bool is_approved(const json::object& request) {
  const json::value* list = sync::wire::dig(request, {"status", "conditions"});
  if (list == nullptr || !list->is_array()) return false;
  for (const json::value& each : list->get_array()) {
    if (!each.is_object()) continue;
    if (sync::wire::dig_text(each.get_object(), {"type"}) == "Approved") return true;
  }
  return false;
}

// Approves the request `body` unless it is approved. The cluster's own controllers may approve it
// at the same time.
asio::awaitable<Status> maybe_approve(ApiClient& client, const Clock& clock, std::string target,
                                      std::string body) {
  Status done;
  CO_TRY(json::value value, sync::wire::parse_json(body));
  json::object* object = value.if_object();
  if (object == nullptr || is_approved(*object)) co_return done;
  const std::string time = format_rfc3339(clock.wall());
  sync::wire::make_object(*object, {"status"})["conditions"] =
      json::array{json::object{{"type", "Approved"},
                               {"status", "True"},
                               {"reason", "HoldfastLab"},
                               {"message", "a node of holdfast-lab run"},
                               {"lastUpdateTime", time},
                               {"lastTransitionTime", time}}};
  ApiRequest approve{.method = http::Method::put,
                     .target = std::move(target) + "/approval",
                     .body = sync::wire::serialize(*object)};
  const auto answer = co_await client.call(std::move(approve), clock.mono() + host_call_limit);
  if (!answer && answer.error().code != Errc::conflict) done = fail("approve", answer.error());
  co_return done;
}

}  // namespace

Result<Host> read_host(const std::string& file) {
  const std::string path = std::filesystem::absolute(file).string();
  Host host{.file = file, .access = {}, .guest = Guest::make()};
  auto access = read_kubeconfig(path);
  if (!access) return fail("--kubeconfig", access.error());
  host.access = *std::move(access);
  host.access.environment = proxy::Rules::from(proc::system_environment);
  if (host.access.tls && !has_credentials(host.access)) {
    return fail(Errc::invalid, "--kubeconfig: " + file +
                                   ": its context has no user with a token, a client certificate "
                                   "or a credential plug-in, one of which " +
                                   server_text(host.access) + " requires");
  }
  return host;
}

Result<std::unique_ptr<ApiClient>> client_of(const Host& host, const Clock& clock) {
  auto client = ApiClient::make(host.access, clock, "holdfast-lab");
  if (!client) return fail("--kubeconfig: " + host.file, client.error());
  return client;
}

// ------------------------------------------------------------------------------------ certificates

asio::awaitable<Result<tls::Identity>> certificate_of(const Host& host, ApiClient& client,
                                                      const Clock& clock, std::string node) {
  const std::string doing = "client certificate of " + node;
  tls::Identity made{.certificate_pem = {}, .key_pem = tls::make_key_pem()};
  const tls::Names names{.common_name = identity::node_user(node),
                         .organizations = {std::string(identity::nodes_group)}};
  CO_TRY(const std::string request_pem, tls::make_request_pem(made.key_pem, names));
  const std::string path(identity::csr_path);
  const std::string body = identity::csr_body(identity::CertificateUse::client, request_pem);
  ApiRequest create{
      .method = http::Method::post, .target = path, .body = marked_request(host.guest, node, body)};
  const auto created = co_await client.call(std::move(create), clock.mono() + host_call_limit);
  if (!created) co_return fail(doing, created.error());
  const MonoTime limit = clock.mono() + sign_limit;
  for (;;) {
    ApiRequest get{.target = path + "/" + node};
    const auto now = co_await client.call(std::move(get), clock.mono() + host_call_limit);
    if (!now) co_return fail(doing, now.error());
    CO_TRY(identity::CsrState state, identity::read_csr(*now));
    if (state.status == identity::CsrState::Status::issued) {
      made.certificate_pem = std::move(state.certificate_pem);
      co_return made;
    }
    if (state.status != identity::CsrState::Status::pending) {
      co_return fail(Errc::denied, doing + ": " + state.reason);
    }
    if (clock.mono() > limit) co_return fail(Errc::timeout, doing + ": " + unsigned_text());
    const Status approved = co_await maybe_approve(client, clock, path + "/" + node, *now);
    if (!approved) co_return fail(doing, approved.error());
    co_await loop::wait_for(sign_poll);
  }
}

std::string kubeconfig_through(const Host& host, std::uint16_t port,
                               const tls::Identity& identity) {
  const ClusterAccess& access = host.access;
  const tls::ClientSettings& tls = access.tls_settings;
  std::string text =
      "apiVersion: v1\nkind: Config\ncurrent-context: lab\nclusters:\n- name: lab\n"
      "  cluster:\n    server: ";
  text += std::string(access.tls ? "https" : "http") + "://127.0.0.1:" + std::to_string(port) +
          access.path_prefix + "\n";
  if (access.tls) {
    text +=
        "    tls-server-name: " + (tls.server_name.empty() ? access.server.host : tls.server_name) +
        "\n";
    if (tls.insecure) text += "    insecure-skip-tls-verify: true\n";
    if (!tls.insecure && !tls.ca_pem.empty()) {
      text += "    certificate-authority-data: " + base64_encode(tls.ca_pem) + "\n";
    }
  }
  text +=
      "contexts:\n- name: lab\n  context:\n    cluster: lab\n    user: lab\n"
      "users:\n- name: lab\n  user:";
  if (!identity.certificate_pem.empty()) {
    return text + "\n    client-certificate-data: " + base64_encode(identity.certificate_pem) +
           "\n    client-key-data: " + base64_encode(identity.key_pem) + "\n";
  }
  if (access.token.empty()) return text + " {}\n";
  return text + "\n    token: " + access.token + "\n";
}

}  // namespace holdfast::agent::lab::guest
