#include "agent/lab/hollow/nodes.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "agent/lab/hollow/objects.h"
#include "platform/log.h"
#include "platform/loop/randomness.h"
#include "sync/wire/codec.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent::hollow {
namespace {

constexpr const char* leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr const char* nodes = "/api/v1/nodes";
// Shorter than the reflector's default, so that a watch over a broken link is replaced soon.
constexpr Duration watch_timeout = std::chrono::minutes(1);

std::string lease_path(const std::string& node) { return std::string(leases) + "/" + node; }
std::string node_path(const std::string& node) { return std::string(nodes) + "/" + node; }

std::string pod_path(const std::string& key) {
  const std::size_t slash = key.find('/');
  return "/api/v1/namespaces/" + key.substr(0, slash) + "/pods/" + key.substr(slash + 1);
}

ApiRequest with_body(http::Method method, std::string target, std::string body) {
  return {.method = method, .target = std::move(target), .body = std::move(body)};
}

ApiRequest status_patch(const std::string& object, std::string body) {
  ApiRequest request = with_body(http::Method::patch, object + "/status", std::move(body));
  request.content_type = "application/strategic-merge-patch+json";
  return request;
}

// Removes the pod for good, unless its name has passed to another pod meanwhile.
ApiRequest removal(const std::string& key, const std::string& uid) {
  const sync::json::object options{{"kind", "DeleteOptions"},
                                   {"apiVersion", "v1"},
                                   {"gracePeriodSeconds", 0},
                                   {"preconditions", {{"uid", uid}}}};
  return with_body(http::Method::remove, pod_path(key), sync::wire::serialize(options));
}

// Small bursts, so that the limit holds within a second, too.
RequestLimits limits_for(double qps) {
  return {.qps = qps, .burst = std::max(1, static_cast<int>(qps / 50))};
}

}  // namespace

HollowNodes::HollowNodes(asio::any_io_executor executor, Plan plan, ApiClient& client, double qps,
                         const Clock& clock)
    : plan_(std::move(plan)),
      clock_(clock),
      client_(client, limits_for(qps), permit_, clock, [](const auto& /*request*/) {}),
      random_(loop::make_random(executor)),
      fleet_(plan_, clock.mono()),
      feed_([this](const sync::Pod& pod) { take_pod(pod); },
            [this](const Feed<sync::Pod>::Name& name) {
              fleet_.pods().remove(name.first + "/" + name.second);
            },
            [this] { changed_.notify_all(); }),
      changed_(executor),
      tasks_(executor) {
  ids_.reserve(plan_.nodes.size());
  for (NodeId id = 0; id < plan_.nodes.size(); ++id) ids_.emplace(plan_.nodes[id], id);
}

void HollowNodes::start() {
  tasks_.spawn("hollow pods", watch_pods());
  tasks_.spawn("hollow nodes", dispatch());
}

asio::awaitable<Status> HollowNodes::joined(MonoTime deadline) {
  while (fleet_.unregistered() > 0) {
    if (!co_await changed_.wait_until(deadline)) {
      co_return fail("register the hollow nodes", last_failure_);
    }
  }
  for (NodeId id = 0; id < fleet_.size(); ++id) {
    if (fleet_.node(id).state == NodeState::refused) co_return fail(last_failure_);
  }
  Status done;
  co_return done;
}

asio::awaitable<Result<http::Response>> HollowNodes::send(ApiRequest request, bool streamed) {
  return client_.send(std::move(request), streamed, plan_.request_limit);
}

asio::awaitable<Result<std::string>> HollowNodes::call(ApiRequest request) {
  return client_.call(std::move(request), clock_.mono() + plan_.request_limit);
}

void HollowNodes::take_pod(const sync::Pod& pod) {
  const auto found = ids_.find(pod.spec.node_name);
  if (found != ids_.end()) {
    fleet_.pods().set(pod, found->second, clock_.mono());
  } else {
    fleet_.pods().remove(pod.metadata.namespace_name + "/" + pod.metadata.name);
  }
}

asio::awaitable<void> HollowNodes::watch_pods() {
  ListWatchTarget target;
  target.path = "/api/v1/pods";
  target.label_selector = plan_.pod_selector;
  target.field_selector = "spec.nodeName!=";
  target.ask_protobuf = true;
  target.reflector.by_page = true;
  target.reflector.watch_timeout_min = watch_timeout;
  return run_list_watch(std::move(target), *this, feed_, clock_, random_);
}

asio::awaitable<void> HollowNodes::dispatch() {
  for (;;) {
    if (performing_ >= plan_.requests_max) {
      co_await changed_.wait();
      continue;
    }
    auto work = fleet_.next(clock_.mono());
    if (!work) {
      (void)co_await changed_.wait_until(fleet_.next_due());
      continue;
    }
    ++performing_;
    tasks_.spawn("hollow node", perform(*std::move(work)));
  }
}

asio::awaitable<void> HollowNodes::perform(Work work) {
  if (auto* pod = std::get_if<PodWork>(&work)) {
    co_await perform_pod(std::move(*pod));
  } else {
    const NodeWork duty = std::get<NodeWork>(work);
    if (duty.kind == NodeWork::Kind::register_node) co_await register_node(duty.node);
    if (duty.kind == NodeWork::Kind::renew) co_await renew(duty.node);
    if (duty.kind == NodeWork::Kind::post_status) co_await post_status(duty.node);
  }
  --performing_;
  changed_.notify_all();
}

void HollowNodes::note(const char* what, const std::string& name, const Error& error) {
  last_failure_ = error;
  last_failure_.what = std::string(what) + " " + name + ": " + error.what;
  log_warn("hollow node", {{"failed", what}, {"name", name}, {"error", error}});
}

asio::awaitable<void> HollowNodes::register_node(NodeId id) {
  const Status done = co_await try_register(id);
  if (done) co_return;
  note("register", plan_.nodes[id], done.error());
  if (done.error().code == Errc::conflict || done.error().code == Errc::invalid) {
    fleet_.refused(id);
  } else {
    fleet_.register_failed(id, clock_.mono());
  }
}

asio::awaitable<Status> HollowNodes::try_register(NodeId id) {
  const std::string& name = plan_.nodes[id];
  ApiRequest create = with_body(http::Method::post, nodes, node_body(plan_, id, clock_.wall()));
  auto answer = co_await call(std::move(create));
  const bool existed = !answer && answer.error().code == Errc::conflict;
  if (existed) {
    ApiRequest read{.target = node_path(name)};
    answer = co_await call(std::move(read));
  }
  if (!answer) co_return fail(answer.error());
  CO_TRY(const sync::wire::ObjectHeader node, sync::wire::read_header(*answer));
  if (!node.labels.has(hollow_label)) {
    co_return fail(Errc::conflict, "there is a node of this name without the label " +
                                       std::string(hollow_label) + ": set another --name-prefix");
  }
  CO_TRY(std::string version, co_await make_lease(name, node.uid));
  fleet_.registered(id, node.uid, std::move(version), existed);
  Status done;
  co_return done;
}

// Returns the lease's resourceVersion; "" if there already is a lease.
asio::awaitable<Result<std::string>> HollowNodes::make_lease(std::string name, std::string uid) {
  const LeaseFields fields{.node = name, .node_uid = uid, .duration_seconds = plan_.lease_seconds};
  ApiRequest create = with_body(http::Method::post, leases, lease_body(fields, clock_.wall()));
  auto made = co_await call(std::move(create));
  if (!made && made.error().code == Errc::conflict) co_return std::string();
  if (!made) co_return fail("lease", made.error());
  CO_TRY(sync::wire::ObjectHeader header, sync::wire::read_header(*made));
  co_return std::move(header.resource_version);
}

asio::awaitable<void> HollowNodes::renew(NodeId id) {
  auto renewed = co_await try_renew(id);
  if (renewed) {
    fleet_.renewed(id, *std::move(renewed));
    co_return;
  }
  fleet_.renew_failed(id);
  note("renew the lease of", plan_.nodes[id], renewed.error());
}

// Updates with the known resourceVersion, so that a renewal delayed by a broken link cannot
// overwrite a later one.
asio::awaitable<Result<std::string>> HollowNodes::try_renew(NodeId id) {
  const std::string& name = plan_.nodes[id];
  std::string version = fleet_.node(id).lease_version;
  if (version.empty()) {
    ApiRequest read{.target = lease_path(name)};
    const auto current = co_await call(std::move(read));
    if (!current && current.error().code == Errc::not_found) {
      co_return co_await make_lease(name, fleet_.node(id).uid);
    }
    if (!current) co_return fail(current.error());
    CO_TRY(const sync::wire::ObjectHeader found, sync::wire::read_header(*current));
    version = found.resource_version;
  }
  const LeaseFields fields{.node = name,
                           .node_uid = fleet_.node(id).uid,
                           .version = std::move(version),
                           .duration_seconds = plan_.lease_seconds};
  ApiRequest update =
      with_body(http::Method::put, lease_path(name), lease_body(fields, clock_.wall()));
  CO_TRY(const std::string answer, co_await call(std::move(update)));
  CO_TRY(sync::wire::ObjectHeader header, sync::wire::read_header(answer));
  co_return std::move(header.resource_version);
}

asio::awaitable<void> HollowNodes::post_status(NodeId id) {
  const Status posted = co_await try_post(id);
  if (posted) co_return;
  if (posted.error().code == Errc::not_found) {
    log_warn("hollow node deleted", {{"node", plan_.nodes[id]}});
    fleet_.deleted(id);
    co_return;
  }
  fleet_.post_failed(id);
  note("post the status of", plan_.nodes[id], posted.error());
}

// Reads the node first, as a kubelet does: its conditions may have been changed by a controller.
asio::awaitable<Status> HollowNodes::try_post(NodeId id) {
  const std::string path = node_path(plan_.nodes[id]);
  ApiRequest read{.target = path};
  CO_TRY(const std::string body, co_await call(std::move(read)));
  const sync::wire::DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};
  CO_TRY(const sync::Node node, sync::wire::decode_bytes<sync::Node>(body, lean));
  if (!node.metadata.labels.has(hollow_label)) {
    co_return fail(Errc::not_found, "replaced by a node that is not hollow");
  }
  ApiRequest patch = status_patch(path, node_status_patch(node.status, clock_.wall()));
  CO_TRY([[maybe_unused]] const std::string answer, co_await call(std::move(patch)));
  fleet_.posted(id, node.metadata.uid);
  Status done;
  co_return done;
}

asio::awaitable<void> HollowNodes::perform_pod(PodWork work) {
  const HollowPod* pod = fleet_.pods().find(work.key);
  if (pod == nullptr) co_return;  // gone meanwhile
  const std::string uid = pod->uid;
  const bool ends = work.step == PodStep::finish;
  ApiRequest request =
      work.step == PodStep::remove
          ? removal(work.key, uid)
          : status_patch(pod_path(work.key), pod_status_patch(*pod, ends, clock_.wall()));
  const auto answer = co_await call(std::move(request));
  const bool gone = !answer && answer.error().code == Errc::not_found;
  if (answer || gone) {
    fleet_.pods().done(work, uid, clock_.mono());
    co_return;
  }
  fleet_.pods().failed(work, uid, clock_.mono());
  note("report the pod", work.key, answer.error());
}

asio::awaitable<Status> HollowNodes::try_remove(NodeId id) {
  Status done;
  if (fleet_.node(id).state != NodeState::registered) co_return done;
  const std::string targets[] = {node_path(plan_.nodes[id]), lease_path(plan_.nodes[id])};
  for (const std::string& target : targets) {
    ApiRequest request = with_body(http::Method::remove, target, {});
    const auto answer = co_await call(std::move(request));
    if (!answer && answer.error().code != Errc::not_found) {
      co_return fail("delete " + plan_.nodes[id], answer.error());
    }
  }
  co_return done;
}

asio::awaitable<void> HollowNodes::remove_share(NodeId first, NodeId step, Status& done) {
  for (NodeId id = first; id < fleet_.size(); id += step) {
    const Status removed = co_await try_remove(id);
    if (!removed && done) done = removed;
  }
}

asio::awaitable<Status> HollowNodes::remove_all() {
  Status done;
  loop::Tasks removals(co_await asio::this_coro::executor);
  const auto shares = static_cast<NodeId>(plan_.requests_max);
  for (NodeId share = 0; share < shares; ++share) {
    removals.spawn("delete hollow nodes", remove_share(share, shares, done));
  }
  co_await removals.join();
  co_return done;
}

Result<std::vector<NodeId>> HollowNodes::find(const std::vector<std::string>& names) const {
  std::vector<NodeId> found;
  found.reserve(names.size());
  for (const std::string& name : names) {
    const auto at = ids_.find(name);
    if (at == ids_.end()) return fail(Errc::not_found, "there is no hollow node \"" + name + "\"");
    found.push_back(at->second);
  }
  return found;
}

std::size_t HollowNodes::silence(const std::vector<NodeId>& chosen) {
  std::size_t changed = 0;
  for (const NodeId id : chosen) changed += fleet_.silence(id, clock_.mono()) ? 1U : 0U;
  return changed;
}

std::size_t HollowNodes::resume(const std::vector<NodeId>& chosen) {
  std::size_t changed = 0;
  for (const NodeId id : chosen) changed += fleet_.resume(id, clock_.mono()) ? 1U : 0U;
  changed_.notify_all();
  return changed;
}

std::size_t HollowNodes::registered() const {
  std::size_t count = 0;
  for (NodeId id = 0; id < fleet_.size(); ++id) {
    count += fleet_.node(id).state == NodeState::registered ? 1U : 0U;
  }
  return count;
}

std::unordered_map<NodeId, std::size_t> HollowNodes::pod_counts() {
  std::unordered_map<NodeId, std::size_t> counts;
  for (const auto& [key, pod] : fleet_.pods().all()) ++counts[pod.node];
  return counts;
}

}  // namespace holdfast::agent::hollow
