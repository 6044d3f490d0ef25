#include "agent/edge/admin/ota.h"

#include "agent/edge/forward/unavailable.h"
#include "agent/edge/route/answer.h"
#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/watch/selection.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/status.h"

namespace holdfast::agent {
namespace {

constexpr std::string_view ota_prefix = "/openyurt.io/v1/namespaces/";

http::Response plain_text(int status, const std::string& text) {
  return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = text + "\n"};
}

// Passes on an error of the API server.
http::Response passed_on(const http::Response& response) {
  const Error error = sync::wire::to_error(response.status, response.body);
  return status_problem(response.status, "API server: " + error.what);
}

http::Response no_page(const std::string& path) {
  return status_problem(404, "no such page: " + path);
}

}  // namespace

struct Ota::Target {
  std::string namespace_name;
  std::string pod;
  sync::node::OtaAction action;

  [[nodiscard]] std::string path() const {
    return "/api/v1/namespaces/" + percent_encode(namespace_name) + "/pods/" + percent_encode(pod);
  }
};

Ota::Ota(Settings settings, ScopeTable& scopes, Uplink& uplink, const Clock& clock)
    : settings_(std::move(settings)), scopes_(scopes), uplink_(uplink), clock_(clock) {}

bool Ota::serves(std::string_view path) { return path == "/pods" || upgrades(path); }

bool Ota::upgrades(std::string_view path) { return path.starts_with(ota_prefix); }

// Parses {namespace}/pods/{pod}/{action} behind the prefix.
std::optional<Ota::Target> Ota::target_of(std::string_view path) {
  if (!path.starts_with(ota_prefix)) return std::nullopt;
  const auto parts = split(path.substr(ota_prefix.size()), '/');
  if (parts.size() != 4 || parts[1] != "pods") return std::nullopt;
  const auto action = sync::node::parse_ota_action(parts[3]);
  const auto space = percent_decode(parts[0], false);
  const auto pod = percent_decode(parts[2], false);
  const bool named = space && pod && !space->empty() && !pod->empty();
  if (!action || !named) return std::nullopt;
  return Target{*space, *pod, *action};
}

asio::awaitable<http::Response> Ota::handle(const http::Request& request) {
  const std::string path(request.path());
  const auto target = target_of(path);
  if (path != "/pods" && !target) co_return no_page(path);
  const http::Method wanted = target ? http::Method::post : http::Method::get;
  if (request.method != wanted) {
    std::string why = "only ";
    why.append(http::to_string(wanted)).append(" is served here");
    co_return status_problem(405, why);
  }
  if (!target) co_return pods();
  std::string authorization(request.headers.get("authorization"));
  Target wanted_pod = *target;
  co_return co_await begin(std::move(wanted_pod), std::move(authorization));
}

// Answers from any complete scope of the node that contains all pods of this node.
http::Response Ota::pods() const {
  const sync::watch::Selection mine{.resource = "pods",
                                    .field_selector = "spec.nodeName=" + settings_.node_name};
  for (const auto& [key, scope] : scopes_.all()) {
    const sync::watch::Selection held{.group = key.group,
                                      .resource = key.resource,
                                      .namespace_name = key.namespace_name,
                                      .label_selector = key.label_selector,
                                      .field_selector = key.field_selector};
    const bool all = key.owner == node_owner && sync::watch::covers(held, mine);
    if (!all || !scope->cache().complete()) continue;
    const sync::watch::WatchCache& cache = scope->cache();
    const auto selected = sync::watch::select(cache, mine);
    if (!selected) continue;
    std::vector<std::string> items;
    for (const auto& [name, pod] : *selected) {
      auto json = sync::watch::cached_json(cache.kind(), pod.bytes);
      if (!json) return to_response(sync::wire::status::from_error(json.error()));
      items.push_back(*std::move(json));
    }
    const std::vector<std::string_view> views(items.begin(), items.end());
    const sync::wire::ListHead head{.kind = "PodList",
                                    .api_version = "v1",
                                    .resource_version = std::to_string(cache.version())};
    return json_response(200, sync::wire::join_list(head, views) + "\n");
  }
  return unavailable(uplink_, "the pods of this node were never completely received");
}

asio::awaitable<http::Response> Ota::begin(Target target, std::string authorization) {
  if (!uplink_.link().allows_reads()) {
    co_return unavailable(uplink_, "an upgrade needs the API server");
  }
  ApiRequest look{.target = target.path(), .authorization = authorization};
  const auto pod = co_await uplink_.send(std::move(look), false, settings_.deadline);
  if (!pod) co_return not_reached(uplink_, pod.error());
  if (pod->status != 200) co_return passed_on(*pod);
  const auto decided =
      sync::node::decide_ota(target.action, pod->body, settings_.node_name, clock_.wall());
  if (!decided) co_return to_response(sync::wire::status::from_error(decided.error()));
  if (decided->status != 200) co_return status_problem(decided->status, decided->message);

  if (!decided->config_map.empty()) {
    if (!authorization.empty()) {
      const std::string why =
          "a static pod is only upgraded for local callers that act as the node";
      co_return status_problem(403, why);
    }
    sync::node::OtaDecision whole = *decided;
    co_return co_await swap_manifest(target.namespace_name, std::move(whole));
  }
  const bool upgrade = target.action == sync::node::OtaAction::upgrade;
  ApiRequest act{.target = target.path(), .body = decided->body, .authorization = authorization};
  act.method = upgrade ? http::Method::remove : http::Method::patch;
  if (!upgrade) {
    act.target += "/status?fieldManager=yurthub-ota";
    act.content_type = "application/strategic-merge-patch+json";
  }
  const auto done = co_await uplink_.send(std::move(act), false, settings_.deadline);
  if (!done) co_return not_reached(uplink_, done.error());
  if (done->status / 100 != 2) co_return passed_on(*done);
  log_info("upgrade over the air", {{"what", decided->message}});
  co_return plain_text(200, decided->message);
}

asio::awaitable<http::Response> Ota::swap_manifest(std::string namespace_name,
                                                   sync::node::OtaDecision decided) {
  std::string what = "ConfigMap ";
  what.append(namespace_name).append("/").append(decided.config_map);
  ApiRequest look;
  look.target = "/api/v1/namespaces/" + percent_encode(namespace_name) + "/configmaps/";
  look.target += percent_encode(decided.config_map);
  const auto map = co_await uplink_.send(std::move(look), false, settings_.deadline);
  if (!map) co_return not_reached(uplink_, map.error());
  if (map->status == 404)
    co_return status_problem(403, what + ", which should hold the manifest, does not exist");
  if (map->status != 200) {
    const Error error = sync::wire::to_error(map->status, map->body);
    co_return status_problem(map->status, what + ": " + error.what);
  }
  const auto file = sync::node::manifest_in(map->body);
  if (!file) co_return status_problem(422, what + ": " + file.error().what);
  const auto done = replace_manifest(settings_.folders, *file, namespace_name, decided.static_name);
  if (!done) {
    log_warn("static pod not upgraded", {{"from", what}, {"error", done.error()}});
    const bool wrong = done.error().code == Errc::invalid || done.error().code == Errc::not_found;
    co_return status_problem(wrong ? 422 : 500, what + ": " + done.error().what);
  }
  log_info("upgrade over the air", {{"what", decided.message},
                                    {"manifest", file->name},
                                    {"changed", *done == ManifestChange::replaced}});
  co_return plain_text(200, decided.message);
}

}  // namespace holdfast::agent
