// Compares the rights in cross/k8s/cloud-rbac*.yaml with the requests of holdfast-cloud: each
// request must be allowed, and each right must be needed by a request.

#include <boost/asio/this_coro.hpp>
#include <set>

#include "agent/cloud/cloud_service.h"
#include "agent/lab/apiserver/apiserver.h"
#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "sync/objects/request_info.h"
#include "test/support/kubeconfig.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/cloud/manifest_rights.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;

constexpr std::string_view json_type = "application/json";
const std::string attachments_path = "/apis/storage.k8s.io/v1/volumeattachments";
const std::string pods_path = "/api/v1/namespaces/default/pods";

// The lab's API server behind a listener that records which right each request needs.
class Recorder {
 public:
  explicit Recorder(asio::io_context& context)
      : clock_(loop::clock_of(context.get_executor())),
        api_(lab::ApiServer::open(context.get_executor(), clock_, Random(1),
                                  {.data = scratch_.path() / "data", .controllers = false})
                 .value()),
        server_(
            context.get_executor(), http::ServerLimits{},
            [this](const http::Request& request) { return record(request); }, lab::reply_problem) {
    auto listener = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    const std::string url = "http://127.0.0.1:" + std::to_string(listener->port());
    server_.listen(std::move(listener));
    kubeconfig = test::write_kubeconfig(scratch_.path() / "kubeconfig", url);
  }

  // Creates an object without recording the request. Returns its uid.
  asio::awaitable<std::string> create(std::string target, std::string body) {
    http::Request request{.method = http::Method::post, .target = std::move(target)};
    request.body = std::move(body);
    request.headers.set("Content-Type", std::string(json_type));
    const http::Response response = co_await api_->handler()(request);
    EXPECT_EQ(response.status, 201) << response.body;
    const auto header = sync::wire::read_header(response.body);
    co_return header ? std::string(header->uid) : std::string();
  }

  // Changes an object without recording the request.
  asio::awaitable<void> change(std::string target, std::string body) {
    http::Request request{.method = http::Method::patch, .target = std::move(target)};
    request.body = std::move(body);
    request.headers.set("Content-Type", "application/merge-patch+json");
    const http::Response response = co_await api_->handler()(request);
    EXPECT_EQ(response.status, 200) << response.body;
  }

  asio::awaitable<void> stop() {
    api_->stop();
    co_await server_.stop(test::VirtualClock::begin + 5min);
  }

  std::set<Right> asked;
  std::string kubeconfig;

 private:
  asio::awaitable<http::Response> record(const http::Request& request) {
    const std::size_t query = std::min(request.target.find('?'), request.target.size());
    const auto info = sync::objects::parse_request(
        http::to_string(request.method), request.target.substr(0, query),
        request.target.substr(std::min(query + 1, request.target.size())));
    if (info && info->is_resource) {
      const std::string part = info->subresource.empty() ? "" : "/" + info->subresource;
      asked.insert(
          {info->verb, info->group, info->resource + part, info->namespace_name, info->name});
    }
    const bool binds = info && info->subresource == "binding";
    if (binds && std::exchange(fails_next_binding_, false)) {
      http::Response conflict{.status = 409};
      co_return conflict;
    }
    co_return co_await api_->handler()(request);
  }

  const Clock& clock_;
  test::ScratchDir scratch_;
  bool fails_next_binding_ = true;  // after a failed binding the scheduler reads the pod
  std::unique_ptr<lab::ApiServer> api_;
  http::Server server_;
};

// At least one effect of each kind, on the objects that ask_for_everything() creates.
std::vector<lifecycle::Effect> samples(const lifecycle::PodRef& pod, const std::string& node_uid) {
  const WallTime now{1h};
  sync::NodeCondition unknown;
  unknown.type = "Ready";
  unknown.status = "Unknown";
  const lifecycle::Autonomy autonomy{.bound = true, .wanted = true};
  lifecycle::PatchTaints taints{
      "a",
      node_uid,
      {},
      {lifecycle::make_taint("node.kubernetes.io/out-of-service", "NoSchedule", now)}};
  lifecycle::RecordEvent event;
  event.about = {"", "a", node_uid};
  event.reason = "Test";
  const lifecycle::DeadNode dead{"a", node_uid};
  static_assert(std::variant_size_v<lifecycle::Effect> == 14, "a new effect needs a sample here");
  return {lifecycle::UpdateNodeStatus{"a", node_uid, "1", {}, {unknown}},
          taints,
          lifecycle::PatchLabels{"a", {{"x", "y"}}},
          lifecycle::MarkPodNotReady{pod, now},
          lifecycle::MarkPodLost{pod, "lost"},
          lifecycle::MarkPodDisrupted{pod, now},
          lifecycle::BindPod{pod, autonomy},
          event,
          event,  // a repetition patches the first event
          lifecycle::AskProvider{"a", node_uid, "id"},
          lifecycle::EvictPod{pod},
          lifecycle::FailPod{pod, dead},
          lifecycle::DeletePod{pod, dead},
          lifecycle::DetachVolumes{dead},
          lifecycle::DeleteNode{"a", node_uid}};
}

// Creates a claim of its own class, and a pod that uses it and needs no other room.
asio::awaitable<void> give_claim(Recorder& recorder, const std::string& name) {
  co_await recorder.create(
      "/apis/storage.k8s.io/v1/storageclasses",
      R"({"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":")" + name +
          R"("},"provisioner":"example.com/p","volumeBindingMode":"WaitForFirstConsumer"})");
  co_await recorder.create(
      "/api/v1/namespaces/default/persistentvolumeclaims",
      R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":")" + name +
          R"("},"spec":{"storageClassName":")" + name +
          R"(","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}})");
  co_await recorder.create(
      pods_path, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
                     R"("},"spec":{"schedulerName":"holdfast-scheduler","tolerations":[)"
                     R"({"operator":"Exists"}],"containers":[{"name":"c","image":"i"}],"volumes":[)"
                     R"({"name":"v","persistentVolumeClaim":{"claimName":")" +
                     name + R"("}}]}})");
}

// One claim gets a new volume, the other one an existing volume.
asio::awaitable<void> give_claims(Recorder& recorder) {
  const std::string volume = "/api/v1/persistentvolumes";
  co_await recorder.create(
      volume,
      R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv"},"spec":{)"
      R"("storageClassName":"found","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1"},)"
      R"("hostPath":{"path":"/x"}}})");
  co_await recorder.change(volume + "/pv/status", R"({"status":{"phase":"Available"}})");
  for (const char* name : {"made", "found"}) co_await give_claim(recorder, name);
}

// Creates a full node with a pod, a pod that preempts it, and a pod that fits. They make the
// scheduler send every kind of request.
asio::awaitable<void> give_to_schedule(Recorder& recorder) {
  co_await recorder.create(
      "/api/v1/nodes",
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"full"},"status":{"allocatable":)"
      R"({"cpu":"1","memory":"1Gi","pods":"9"},"conditions":[{"type":"Ready","status":"True"}]}})");
  co_await recorder.create(
      "/apis/scheduling.k8s.io/v1/priorityclasses",
      R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"high"},)"
      R"("value":1000})");
  const std::vector<std::string> specs = {R"("name":"low"},"spec":{"nodeName":"full",)",
                                          R"("name":"high"},"spec":{"priorityClassName":"high",)",
                                          R"("name":"small"},"spec":{)"};
  for (const std::string& spec : specs) {
    const bool small = spec.find("small") != std::string::npos;
    std::string body = R"({"kind":"Pod","apiVersion":"v1","metadata":{)";
    body += spec;
    body += R"("schedulerName":"holdfast-scheduler","tolerations":[{"operator":"Exists"}],)"
            R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")";
    body += small ? "0" : "1";
    body += R"("}}}]}})";
    co_await recorder.create(pods_path, std::move(body));
  }
}

// Waits until the scheduler has sent every kind of request for what the functions above create.
asio::awaitable<void> wait_for_scheduling(const Recorder& recorder, const Clock& clock) {
  const std::vector<Right> all = {{"delete", "", "pods", "default", "low"},
                                  {"create", "", "pods/binding", "default", "small"},
                                  {"create", "events.k8s.io", "events", "default"},
                                  {"patch", "", "persistentvolumeclaims", "default", "made"},
                                  {"patch", "", "persistentvolumes", "", "pv"}};
  const auto has_all = [&recorder, &all] {
    return std::all_of(all.begin(), all.end(),
                       [&recorder](const Right& one) { return recorder.asked.contains(one); });
  };
  const MonoTime limit = clock.mono() + 20s;
  while (!has_all() && clock.mono() < limit) co_await loop::wait_for(10ms);
  EXPECT_TRUE(has_all());
}

CloudSettings settings_for(const Recorder& recorder, std::vector<std::string> controllers) {
  CloudSettings settings;
  settings.kubeconfig = recorder.kubeconfig;
  settings.endpoints.secure_port = 0;
  settings.controllers = std::move(controllers);
  return settings;
}

// Makes holdfast-cloud send every kind of request. Returns the rights that the requests need.
asio::awaitable<std::set<Right>> ask_for_everything(asio::io_context& context) {
  Recorder recorder(context);
  const Clock& clock = loop::clock_of(context.get_executor());
  const std::string node_uid = co_await recorder.create(
      "/api/v1/nodes", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}})");
  std::string uid = co_await recorder.create(
      pods_path,
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"nodeName":"a",)"
      R"("containers":[{"name":"c","image":"i"}],"tolerations":[)"
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
      R"("tolerationSeconds":300}]}})");
  co_await recorder.create(
      attachments_path,
      R"({"kind":"VolumeAttachment","apiVersion":"storage.k8s.io/v1","metadata":{"name":"v"},)"
      R"("spec":{"attacher":"x","nodeName":"a","source":{"persistentVolumeName":"pv"}}})");

  CloudSettings settings = settings_for(recorder, {"*", "scheduler"});
  settings.enable_taint_manager = false;  // direct eviction; only it watches DaemonSets
  auto daemon = CloudService::make(context.get_executor(), settings, clock).value();
  EXPECT_TRUE(daemon->start());
  const MonoTime limit = clock.mono() + 20s;
  const Right last_watch{"watch", "apps", "daemonsets"};
  while (!(daemon->lifecycle().has_started() && recorder.asked.contains(last_watch)) &&
         clock.mono() < limit) {
    co_await loop::wait_for(10ms);
  }
  co_await give_to_schedule(recorder);
  co_await give_claims(recorder);
  co_await wait_for_scheduling(recorder, clock);
  for (lifecycle::Effect& effect : samples({"default", "p", std::move(uid)}, node_uid)) {
    const std::size_t kind = effect.index();
    const lifecycle::Outcome outcome = co_await daemon->perform(std::move(effect));
    const bool refused = outcome.error == Errc::denied || outcome.error == Errc::unavailable;
    EXPECT_FALSE(refused) << "effect " << kind;
  }
  co_await daemon->stop(test::VirtualClock::begin + 5min);
  co_await recorder.stop();
  co_return recorder.asked;
}

// The same for the scheduler alone.
asio::awaitable<std::set<Right>> ask_for_scheduling(asio::io_context& context) {
  Recorder recorder(context);
  const Clock& clock = loop::clock_of(context.get_executor());
  const CloudSettings settings = settings_for(recorder, {"scheduler"});
  auto daemon = CloudService::make(context.get_executor(), settings, clock).value();
  EXPECT_TRUE(daemon->start());
  co_await give_to_schedule(recorder);
  co_await give_claims(recorder);
  co_await wait_for_scheduling(recorder, clock);
  co_await daemon->stop(test::VirtualClock::begin + 5min);
  co_await recorder.stop();
  co_return recorder.asked;
}

void expect_allowed(const std::set<Right>& asked, const std::set<Right>& rights) {
  for (const Right& one : asked) {
    const bool allowed = std::any_of(rights.begin(), rights.end(),
                                     [&one](const Right& right) { return right.allows(one); });
    EXPECT_TRUE(allowed) << "missing: " << one.text();
  }
}

TEST(Rbac, AllowsExactlyWhatIsAsked) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const std::set<Right> rights = all_rights();
    std::set<Right> asked = co_await ask_for_everything(context);
    // Only a follower lists and watches the lease, and this replica leads at once.
    for (const std::string mine : {"holdfast-cloud", "holdfast-scheduler"}) {
      asked.insert({"list", "coordination.k8s.io", "leases", "kube-system", mine});
      asked.insert({"watch", "coordination.k8s.io", "leases", "kube-system", mine});
    }
    // The scheduler patches an event that is repeated, which does not happen here.
    asked.insert({"patch", "events.k8s.io", "events", "default", "p.1"});
    expect_allowed(asked, rights);
    for (const Right& right : rights) {
      const bool used = std::any_of(asked.begin(), asked.end(),
                                    [&right](const Right& one) { return right.allows(one); });
      EXPECT_TRUE(used) << "superfluous: " << right.text();
    }
  });
}

// Nobody has to apply the files of the other features.
TEST(Rbac, TheSchedulerNeedsItsOwnFileAndTheCommonOneOnly) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    std::set<Right> rights;
    for (const char* file : {"/cloud-rbac.yaml", "/cloud-rbac-scheduler.yaml"}) {
      add_rights_of(manifests + file, rights);
    }
    const std::set<Right> asked = co_await ask_for_scheduling(context);
    const auto reads_pod = [](const Right& one) {
      return one.verb == "get" && one.resource == "pods";
    };
    EXPECT_TRUE(std::any_of(asked.begin(), asked.end(), reads_pod));
    expect_allowed(asked, rights);
  });
}

// The rights of taint eviction and of features that are off by default are in separate files.
TEST(Rbac, TheCommonFileHasNoFeaturesRights) {
  std::set<Right> rights;
  add_rights_of(manifests + "/cloud-rbac.yaml", rights);
  EXPECT_FALSE(rights.empty());
  for (const Right& right : rights) {
    EXPECT_NE(right.verb, "delete") << right.text();
    EXPECT_NE(right.resource, "pods/eviction");
    EXPECT_NE(right.resource, "pods/binding");
    const bool pod_written = right.resource == "pods" && right.verb == "patch";
    EXPECT_FALSE(pod_written) << right.text();
    const std::set<std::string> groups{"", "coordination.k8s.io"};
    EXPECT_TRUE(groups.contains(right.group)) << right.text();
    EXPECT_NE(right.name, "holdfast-scheduler");
  }
}

}  // namespace
}  // namespace holdfast::agent
