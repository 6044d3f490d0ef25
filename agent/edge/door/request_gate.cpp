#include "agent/edge/door/request_gate.h"

#include <algorithm>
#include <array>

#include "agent/edge/admin/ota.h"
#include "agent/edge/route/answer.h"
#include "platform/check.h"
#include "platform/fs/file.h"
#include "platform/fs/ownership.h"
#include "platform/http/host.h"
#include "platform/log.h"
#include "platform/random.h"
#include "platform/text.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t small_body = 64UL * 1024;
constexpr std::size_t large_body = 3UL * 1024 * 1024;  // kube-apiserver's own limit

std::string_view name_of(Listener listener) {
  switch (listener) {
    case Listener::proxy:
      return "proxy";
    case Listener::tls:
      return "tls";
    case Listener::admin:
      return "admin";
    case Listener::admin_tls:
      return "admin-tls";
  }
  UNREACHABLE();
}

bool is_admin(Listener listener) {
  return listener == Listener::admin || listener == Listener::admin_tls;
}

// Public pages: they contain nothing worth protecting, and probes and scrapers read them.
bool is_public_page(std::string_view path) {
  constexpr std::array<std::string_view, 7> pages{
      "/healthz", "/livez", "/readyz", "/v1/healthz", "/v1/livez", "/v1/readyz", "/metrics"};
  return std::find(pages.begin(), pages.end(), path) != pages.end();
}

// Whether objects of this kind are never larger than `small_body`.
bool is_small_kind(const sync::objects::RequestInfo& info) {
  return info.resource == "leases" || info.resource == "events" || info.subresource == "token" ||
         info.subresource == "eviction" || info.subresource == "binding" ||
         info.group == "authorization.k8s.io" || info.group == "authentication.k8s.io";
}

bool is_administrator(const net::Peer& peer) {
  constexpr std::string_view masters = "system:masters";  // RBAC's built-in group
  const auto& groups = peer.organizations;
  return std::find(groups.begin(), groups.end(), masters) != groups.end();
}

}  // namespace

http::ServerLimits limits_of(Listener listener) {
  http::ServerLimits limits;
  // A connection costs ten times as much over TLS.
  if (listener == Listener::tls) limits.shares.connections = 400;
  if (is_admin(listener)) limits.shares = {.connections = 200, .bytes = 3UL * 1024 * 1024};
  return limits;
}

std::size_t body_bytes_max(const http::Request& head) {
  switch (head.method) {
    case http::Method::get:
    case http::Method::head:
    case http::Method::options:
      return 0;
    case http::Method::remove:
      return small_body;  // DeleteOptions
    case http::Method::put:
    case http::Method::post:
    case http::Method::patch:
    case http::Method::other:
      break;
  }
  const auto info =
      sync::objects::parse_request(http::to_string(head.method), head.path(), Query());
  if (!info) return small_body;  // The request will be answered with 400.
  return is_small_kind(*info) ? small_body : large_body;
}

Result<std::string> load_node_token(const EdgeOptions& options) {
  constexpr std::size_t file_max = 4096;
  constexpr std::size_t token_min = 32;  // characters
  const std::string& file = options.node_token_file;
  if (file.empty()) return std::string();
  auto text = fs::read_secret(file, file_max);
  if (!text && text.error().code == Errc::not_found) {
    // In a folder that others may write to, they could replace the token by their own.
    const auto dir = std::filesystem::absolute(file).parent_path();
    if (auto safe = fs::check_own_dir(dir); !safe) return fail("--node-token-file", safe.error());
    std::string made = make_secret();
    if (auto kept = fs::atomic_write(file, made); !kept) {
      return fail("--node-token-file", kept.error());
    }
    return made;
  }
  if (!text) return fail("--node-token-file", text.error());
  std::string token(trim(*text));
  if (token.size() >= token_min) return token;
  return fail(Errc::invalid, "--node-token-file: " + file + " holds no token of at least " +
                                 std::to_string(token_min) + " characters");
}

RequestGate::RequestGate(const EdgeOptions& options, LocalCallers& local, std::string node_token,
                         Metrics& metrics)
    : options_(options), local_(local), metrics_(metrics), names_(options.identity.serving_names) {
  names_.push_back(options.node_name);
  authentication_.token = std::move(node_token);
  authentication_.of_peer = [this](const net::Peer& peer) {
    if (!options_.require_node_token) return local_.check_acts_as_node(peer);
    return Status(fail(Errc::denied, "callers act as the node only with the node's token"));
  };
}

http::Gate RequestGate::gate_of(Listener listener) {
  http::Gate gate;
  gate.trusts = [this](const net::Peer& peer) {
    return local_.check_acts_as_node(peer).has_value();
  };
  gate.admit = [this, listener](const http::Request& head) { return admit(listener, head); };
  return gate;
}

Result<Caller> RequestGate::identify_at(Listener listener, const http::Request& request) {
  if (listener == Listener::tls || listener == Listener::admin_tls) {
    // The node's token must never be forwarded to the API server.
    if (has_node_token(request)) {
      return fail(Errc::denied, "the node's token is only accepted on loopback");
    }
    return identify_over_tls(request, options_);
  }
  return identify(request, options_, authentication_);
}

http::Admission RequestGate::admit(Listener listener, const http::Request& head) {
  const bool plain = listener == Listener::proxy || listener == Listener::admin;
  if (plain) {
    if (const auto host = http::check_host(head, names_); !host) {
      return {.refusal = refuse(listener, head, 403, "host", host.error().what)};
    }
  }
  if (is_admin(listener)) {
    return {.refusal = refuse_admin(listener, head), .body_bytes = small_body};
  }
  const auto caller = identify_at(listener, head);
  if (!caller) {
    return {.refusal = refuse(listener, head, 401, "credentials", caller.error().what)};
  }
  return {.body_bytes = body_bytes_max(head), .by_owner = caller->owner == node_owner};
}

std::optional<http::Response> RequestGate::refuse_admin(Listener listener,
                                                        const http::Request& request) {
  const std::string_view path = request.path();
  if (is_public_page(path)) return std::nullopt;
  const auto caller = identify_at(listener, request);
  if (!caller) return refuse(listener, request, 401, "credentials", caller.error().what);
  const bool with_token = caller->owner.starts_with("token:");
  if (with_token && Ota::upgrades(path)) return std::nullopt;
  if (caller->owner == node_owner) return std::nullopt;
  if (listener == Listener::admin_tls && is_administrator(request.peer) && !with_token) {
    return std::nullopt;
  }
  return refuse(listener, request, 403, "rights",
                "this page is for the node itself and for cluster administrators");
}

http::Response RequestGate::refuse(Listener listener, const http::Request& request, int status,
                                   std::string_view reason, const std::string& why) {
  metrics_
      .counter("holdfast_edge_refused_requests_total",
               "Requests that were refused before their body was read, by listener and reason.",
               {{"listener", std::string(name_of(listener))}, {"reason", std::string(reason)}})
      .add(1);
  log_warn("caller refused", {{"listener", name_of(listener)},
                              {"caller", http::caller_name(request.peer)},
                              {"path", request.path().substr(0, 200)},
                              {"why", why}});
  if (status != 401) return status_problem(status, why);
  sync::wire::ApiStatus refused = sync::wire::status::unauthorized();
  refused.message = why;
  return to_response(refused);
}

}  // namespace holdfast::agent
