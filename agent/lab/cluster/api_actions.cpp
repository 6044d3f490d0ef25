#include "agent/lab/cluster/api_actions.h"

#include <algorithm>

#include "agent/lab/scenario/describe.h"
#include "platform/loop/timer.h"
#include "sync/model/find.h"
#include "sync/wire/codec.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"

namespace holdfast::agent::lab::cluster {
namespace {

namespace json = sync::json;

constexpr Duration request_limit = std::chrono::seconds(10);
constexpr const char* merge_patch = "application/merge-patch+json";

std::string_view plural(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::deployment:
      return "deployments";
    case WorkloadKind::daemon_set:
      return "daemonsets";
    case WorkloadKind::stateful_set:
      return "statefulsets";
    case WorkloadKind::job:
      return "jobs";
  }
  return "";
}

std::string path_of(const sync::Pod& pod) {
  return "/api/v1/namespaces/" + pod.metadata.namespace_name + "/pods/" + pod.metadata.name;
}

bool is_of_daemon_set(const sync::Pod& pod) {
  const sync::OwnerReference* owner = find_controller(pod.metadata);
  return owner != nullptr && owner->kind == "DaemonSet";
}

struct KnownKind {
  std::string resource;  // "deployments"
  bool has_namespaces = false;
};

// Finds a kind in an APIResourceList.
Result<KnownKind> find_kind(const std::string& discovery, const std::string& kind) {
  TRY(const json::value parsed, sync::wire::parse_json(discovery));
  const json::object* document = parsed.if_object();
  const json::value* list = document == nullptr ? nullptr : document->if_contains("resources");
  const json::array* resources = list == nullptr ? nullptr : list->if_array();
  if (resources == nullptr) return fail(Errc::invalid, "this is no APIResourceList");
  for (const json::value& each : *resources) {
    const json::object* resource = each.if_object();
    if (resource == nullptr) continue;
    const json::value* name = resource->if_contains("name");
    const json::value* its_kind = resource->if_contains("kind");
    const json::value* spaces = resource->if_contains("namespaced");
    if (name == nullptr || !name->is_string() || its_kind == nullptr) continue;
    const std::string_view text = name->get_string();
    if (*its_kind != json::value(kind) || text.find('/') != text.npos) continue;
    return KnownKind{std::string(text), spaces != nullptr && *spaces == json::value(true)};
  }
  return fail(Errc::not_found, "the API server does not have the kind " + kind);
}

std::string target_of(const Workload& workload) {
  return collection_of(workload) + "/" + workload.name;
}

}  // namespace

std::string collection_of(const Workload& workload) {
  const std::string group = workload.kind == WorkloadKind::job ? "batch" : "apps";
  return "/apis/" + group + "/v1/namespaces/" + workload.namespace_name + "/" +
         std::string(plural(workload.kind));
}

const Workload* owner_of(const sync::Pod& pod, const std::vector<Workload>& workloads) {
  const sync::OwnerReference* owner = find_controller(pod.metadata);
  if (owner == nullptr) return nullptr;
  std::string name = owner->name;
  // The name of a Deployment's ReplicaSet ends with a hash.
  if (owner->kind == "ReplicaSet") name.resize(std::min(name.size(), name.rfind('-')));
  for (const Workload& each : workloads) {
    const bool is_owner = each.name == name && owner_kind(each.kind) == owner->kind &&
                          each.namespace_name == pod.metadata.namespace_name;
    if (is_owner) return &each;
  }
  return nullptr;
}

asio::awaitable<Result<std::string>> ApiActions::call(ApiRequest request) {
  co_return co_await client_.call(std::move(request), clock_.mono() + request_limit);
}

asio::awaitable<Result<std::string>> ApiActions::collection(std::string api_version,
                                                            std::string kind, std::string space) {
  const bool is_core = api_version.find('/') == api_version.npos;
  const std::string root = (is_core ? "/api/" : "/apis/") + api_version;
  ApiRequest request{.target = root};
  const auto discovery = co_await call(std::move(request));
  if (!discovery) co_return fail("the API server does not have " + api_version, discovery.error());
  CO_TRY(const KnownKind known, find_kind(*discovery, kind));
  std::string path = root;
  if (known.has_namespaces) path += "/namespaces/" + (space.empty() ? "default" : space);
  path += "/" + known.resource;
  co_return path;
}

asio::awaitable<Status> ApiActions::post(std::string collection, std::string body) {
  ApiRequest request{
      .method = http::Method::post, .target = std::move(collection), .body = std::move(body)};
  const auto made = co_await call(std::move(request));
  Status done;
  if (!made) done = fail(made.error());
  co_return done;
}

asio::awaitable<Status> ApiActions::patch(std::string target, std::string body) {
  ApiRequest request{.method = http::Method::patch,
                     .target = std::move(target),
                     .body = std::move(body),
                     .content_type = merge_patch};
  const auto made = co_await call(std::move(request));
  Status done;
  if (!made) done = fail(made.error());
  co_return done;
}

asio::awaitable<Status> ApiActions::remove(std::string target) {
  ApiRequest request{.method = http::Method::remove, .target = std::move(target)};
  const auto made = co_await call(std::move(request));
  Status done;
  if (!made) done = fail(made.error());
  co_return done;
}

asio::awaitable<Result<std::vector<sync::Pod>>> ApiActions::pods(std::string query) {
  if (!query.empty() && !pods_query_.empty()) query += "&";
  query += pods_query_;
  ApiRequest request{.target = "/api/v1/pods" + (query.empty() ? "" : "?" + query)};
  const auto body = co_await call(std::move(request));
  if (!body) co_return fail("list pods", body.error());
  CO_TRY(const auto list, sync::wire::split_list(*body));
  std::vector<sync::Pod> pods;
  for (const auto& item : list.items) {
    CO_TRY(sync::Pod pod, sync::wire::decode_bytes<sync::Pod>(item));
    pods.push_back(std::move(pod));
  }
  co_return pods;
}

asio::awaitable<Status> ApiActions::cordon(std::string node, bool cordoned) {
  std::string body =
      cordoned ? R"({"spec":{"unschedulable":true}})" : R"({"spec":{"unschedulable":null}})";
  Status done = co_await patch("/api/v1/nodes/" + node, std::move(body));
  if (!done) co_return fail("cordon " + node, done.error());
  co_return done;
}

asio::awaitable<Result<bool>> ApiActions::evict(sync::Pod pod) {
  const json::object eviction = {
      {"apiVersion", "policy/v1"},
      {"kind", "Eviction"},
      {"metadata",
       json::object{{"name", pod.metadata.name}, {"namespace", pod.metadata.namespace_name}}}};
  const Status done = co_await post(path_of(pod) + "/eviction", sync::wire::serialize(eviction));
  if (done || done.error().code == Errc::not_found) co_return true;
  if (done.error().code == Errc::exhausted) co_return false;
  co_return fail("evict " + pod.metadata.name, done.error());
}

asio::awaitable<Status> ApiActions::evict_all(std::string node, Duration retry) {
  Status done;
  for (;;) {
    CO_TRY(const auto all, co_await pods("fieldSelector=spec.nodeName%3D" + node));
    bool again = false;
    for (const sync::Pod& pod : all) {
      if (is_of_daemon_set(pod) || pod.metadata.deletion_timestamp) continue;
      CO_TRY(const bool evicted, co_await evict(pod));
      again = again || !evicted;
    }
    if (!again) co_return done;
    co_await loop::wait_for(retry);
  }
}

asio::awaitable<Status> ApiActions::scale(Workload workload, int replicas) {
  Status done = co_await patch(target_of(workload),
                               R"({"spec":{"replicas":)" + std::to_string(replicas) + "}}");
  if (!done) co_return fail("scale " + workload.name, done.error());
  co_return done;
}

asio::awaitable<Status> ApiActions::roll_out(Workload workload) {
  const json::object marks = {{"kubectl.kubernetes.io/restartedAt", format_rfc3339(clock_.wall())}};
  const json::object patched = {
      {"spec", json::object{{"template",
                             json::object{{"metadata", json::object{{"annotations", marks}}}}}}}};
  Status done = co_await patch(target_of(workload), sync::wire::serialize(patched));
  if (!done) co_return fail("roll out " + workload.name, done.error());
  co_return done;
}

asio::awaitable<Status> ApiActions::delete_pods(std::vector<Workload> workloads, std::string name,
                                                std::vector<std::string> nodes) {
  CO_TRY(const auto all, co_await pods(""));
  for (const sync::Pod& pod : all) {
    const Workload* owner = owner_of(pod, workloads);
    const bool here =
        nodes.empty() || std::find(nodes.begin(), nodes.end(), pod.spec.node_name) != nodes.end();
    if (owner == nullptr || owner->name != name || !here) continue;
    const Status done = co_await remove(path_of(pod));
    if (!done && done.error().code != Errc::not_found) {
      co_return fail("delete " + pod.metadata.name, done.error());
    }
  }
  Status done;
  co_return done;
}

}  // namespace holdfast::agent::lab::cluster
