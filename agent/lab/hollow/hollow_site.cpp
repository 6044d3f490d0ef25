#include "agent/lab/hollow/hollow_site.h"

#include "agent/lab/hollow/hollow_objects.h"
#include "platform/loop/timer.h"
#include "sync/wire/codec.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent {
namespace {

constexpr Duration request_limit = std::chrono::seconds(2);
constexpr const char* leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr const char* nodes = "/api/v1/nodes";

ApiRequest post(std::string collection, std::string body) {
  return {.method = http::Method::post, .target = std::move(collection), .body = std::move(body)};
}

ApiRequest patch(std::string object, std::string body) {
  return {.method = http::Method::patch,
          .target = std::move(object),
          .body = std::move(body),
          .content_type = "application/strategic-merge-patch+json"};
}

std::string path_of(const sync::Pod& pod) {
  return "/api/v1/namespaces/" + pod.metadata.namespace_name + "/pods/" + pod.metadata.name;
}

ApiRequest end_of(const sync::Pod& pod) {
  const sync::json::object options{{"kind", "DeleteOptions"},
                                   {"apiVersion", "v1"},
                                   {"gracePeriodSeconds", 0},
                                   {"preconditions", {{"uid", pod.metadata.uid}}}};
  return {.method = http::Method::remove,
          .target = path_of(pod),
          .body = sync::wire::serialize(options)};
}

}  // namespace

asio::awaitable<Status> HollowSite::write(ApiRequest request) {
  const auto answer = co_await client_.call(std::move(request), clock_.mono() + request_limit);
  Status done;
  if (!answer) done = fail(answer.error());
  co_return done;
}

asio::awaitable<Status> HollowSite::join() {
  for (const std::string& node : plan_.nodes) {
    ApiRequest object = post(nodes, hollow_node(node, plan_.zone));
    Status done = co_await write(std::move(object));
    if (!done) co_return done;
    ApiRequest lease = post(leases, hollow_lease(node, plan_.lease_seconds, clock_.wall()));
    done = co_await write(std::move(lease));
    if (!done) co_return done;
  }
  co_return co_await round();
}

asio::awaitable<void> HollowSite::run() {
  for (;;) {
    const MonoTime next = clock_.mono() + plan_.renew_interval;
    (void)co_await round();
    co_await loop::sleep_until(next);
  }
}

asio::awaitable<Status> HollowSite::renew(std::string node) {
  const std::string lease = std::string(leases) + "/" + node;
  std::string& version = versions_[node];
  if (version.empty()) {
    ApiRequest read{.target = lease};
    CO_TRY(const std::string body,
           co_await client_.call(std::move(read), clock_.mono() + request_limit));
    CO_TRY(const sync::wire::ObjectHeader found, sync::wire::read_header(body));
    version = found.resource_version;
  }
  ApiRequest renewal = patch(lease, hollow_renewal(version, clock_.wall()));
  renewal.content_type = "application/merge-patch+json";
  version.clear();  // unknown until the answer arrives
  CO_TRY(const std::string renewed,
         co_await client_.call(std::move(renewal), clock_.mono() + request_limit));
  CO_TRY(const sync::wire::ObjectHeader header, sync::wire::read_header(renewed));
  version = header.resource_version;
  Status done;
  co_return done;
}

// All leases come first, so that they are renewed close together.
asio::awaitable<Status> HollowSite::round() {
  Status done;
  for (const std::string& node : plan_.nodes) {
    done = co_await renew(node);
    if (!done) co_return done;
  }
  for (const std::string& node : plan_.nodes) {
    const std::string object = std::string(nodes) + "/" + node + "/status";
    ApiRequest status = patch(object, hollow_node_status(clock_.wall()));
    done = co_await write(std::move(status));
    if (!done) co_return done;
  }
  co_return co_await serve_pods();
}

asio::awaitable<Status> HollowSite::serve_pods() {
  ApiRequest request{.target = std::string("/api/v1/pods?labelSelector=") + hollow_zone_label +
                               "%3D" + plan_.zone};
  CO_TRY(const std::string body,
         co_await client_.call(std::move(request), clock_.mono() + request_limit));
  CO_TRY(const sync::wire::ListBytes list, sync::wire::split_list(body));
  Status done;
  for (const std::string_view item : list.items) {
    CO_TRY(sync::Pod pod, sync::wire::decode_bytes<sync::Pod>(item));
    done = co_await serve_pod(std::move(pod));
    if (!done) co_return done;
  }
  co_return done;
}

asio::awaitable<Status> HollowSite::serve_pod(sync::Pod pod) {
  Status done;
  if (pod.metadata.deletion_timestamp) {
    ApiRequest end = end_of(pod);
    done = co_await write(std::move(end));
  } else if (pod.status.phase != "Running") {
    ApiRequest status = patch(path_of(pod) + "/status", hollow_pod_status(clock_.wall()));
    done = co_await write(std::move(status));
  }
  co_return done;
}

}  // namespace holdfast::agent
