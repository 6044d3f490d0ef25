// Compares the rights in cross/k8s/cloud-rbac*.yaml with the requests of holdfast-cloud: each
// request must be allowed, and each right must be needed by a request.

#include <yaml-cpp/yaml.h>

#include <boost/asio/this_coro.hpp>
#include <filesystem>
#include <set>

#include "agent/cloud/cloud_service.h"
#include "agent/cloud/missing_rights.h"
#include "agent/lab/apiserver/apiserver.h"
#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "sync/objects/request_info.h"
#include "test/support/kubeconfig.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;

constexpr std::string_view json_type = "application/json";
const std::string attachments_path = "/apis/storage.k8s.io/v1/volumeattachments";
const std::string pods_path = "/api/v1/namespaces/default/pods";

// A right, or the right that a request needs. In a right, an empty namespace or name means all.
struct Right {
  std::string verb;
  std::string group;
  std::string resource;  // "pods/status"
  std::string namespace_name = {};
  std::string name = {};

  auto operator<=>(const Right&) const = default;
  [[nodiscard]] bool allows(const Right& asked) const {
    return verb == asked.verb && group == asked.group && resource == asked.resource &&
           (namespace_name.empty() || namespace_name == asked.namespace_name) &&
           (name.empty() || name == asked.name);
  }
  [[nodiscard]] std::string text() const {
    return verb + " " + resource + "." + group + " in \"" + namespace_name + "\" named \"" + name +
           "\"";
  }
};

// Adds the rights of all roles in the file to `rights`.
void add_rights_of(const std::string& file, std::set<Right>& rights) {
  for (const YAML::Node& role : YAML::LoadAllFromFile(file)) {
    const std::string kind = role["kind"].as<std::string>();
    if (kind != "ClusterRole" && kind != "Role") continue;
    const std::string space =
        kind == "Role" ? role["metadata"]["namespace"].as<std::string>() : std::string();
    for (const YAML::Node& rule : role["rules"]) {
      std::vector<std::string> names{""};
      if (rule["resourceNames"]) names = rule["resourceNames"].as<std::vector<std::string>>();
      for (const auto& group : rule["apiGroups"].as<std::vector<std::string>>()) {
        for (const auto& resource : rule["resources"].as<std::vector<std::string>>()) {
          for (const auto& verb : rule["verbs"].as<std::vector<std::string>>()) {
            for (const auto& name : names) rights.insert({verb, group, resource, space, name});
          }
        }
      }
    }
  }
}

// The rights of all files, that is, of all features together.
std::set<Right> all_rights() {
  std::set<Right> rights;
  const std::string folder = std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("cloud-rbac")) add_rights_of(file.path().string(), rights);
  }
  return rights;
}

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
    return api_->handler()(request);
  }

  const Clock& clock_;
  test::ScratchDir scratch_;
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

  CloudSettings settings;
  settings.kubeconfig = recorder.kubeconfig;
  settings.endpoints.secure_port = 0;
  settings.enable_taint_manager = false;  // direct eviction; only it watches DaemonSets
  settings.controllers = {"*", "scheduler"};
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
  const Right deletion{"delete", "", "pods", "default", "low"};
  const Right binding{"create", "", "pods/binding", "default", "small"};
  const Right event{"create", "events.k8s.io", "events", "default"};
  const Right selection{"patch", "", "persistentvolumeclaims", "default", "made"};
  const Right reservation{"patch", "", "persistentvolumes", "", "pv"};
  const auto has_all = [&] {
    const std::vector<Right> all = {deletion, binding, event, selection, reservation};
    return std::all_of(all.begin(), all.end(),
                       [&](const Right& one) { return recorder.asked.contains(one); });
  };
  while (!has_all() && clock.mono() < limit) {
    co_await loop::wait_for(10ms);
  }
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
    for (const Right& one : asked) {
      const bool allowed = std::any_of(rights.begin(), rights.end(),
                                       [&one](const Right& right) { return right.allows(one); });
      EXPECT_TRUE(allowed) << "missing: " << one.text();
    }
    for (const Right& right : rights) {
      const bool used = std::any_of(asked.begin(), asked.end(),
                                    [&right](const Right& one) { return right.allows(one); });
      EXPECT_TRUE(used) << "superfluous: " << right.text();
    }
  });
}

// The rights of taint eviction and of features that are off by default are in separate files.
TEST(Rbac, TheCommonFileHasNoFeaturesRights) {
  std::set<Right> rights;
  add_rights_of(std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s/cloud-rbac.yaml", rights);
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

// A warning about a missing right names the file that grants it.
TEST(Rbac, TheFileThatGrantsARightIsKnown) {
  const std::string folder = std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s/";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    std::set<Right> rights;
    if (name.starts_with("cloud-rbac")) add_rights_of(file.path().string(), rights);
    for (const Right& right : rights) {
      const std::string known = files_granting(right.verb, right.group, right.resource);
      EXPECT_NE((" " + known + " ").find(" " + name + " "), std::string::npos)
          << right.text() << ": " << known;
      const auto granted = split(known, ' ');
      for (const std::string_view each : granted) {
        std::set<Right> others;
        if (each != "or") add_rights_of(folder + std::string(each), others);
        const bool has = std::any_of(others.begin(), others.end(), [&right](const Right& other) {
          return other.verb == right.verb && other.group == right.group &&
                 other.resource == right.resource;
        });
        EXPECT_TRUE(each == "or" || has) << each << " does not grant " << right.text();
      }
    }
  }
  EXPECT_EQ(files_granting("delete", "", "pods"),
            "cloud-rbac-taint-eviction.yaml or cloud-rbac-scheduler.yaml");
  EXPECT_EQ(files_granting("delete", "", "secrets"), "");
}

TEST(Rbac, AMissingRightIsToldOnceAnHour) {
  test::VirtualTime time;
  MissingRights rights(time.clock());
  const auto refuse = [&rights] {
    rights.refused("DELETE", "/api/v1/namespaces/a/pods/p");
    rights.refused("DELETE", "/api/v1/namespaces/b/pods/q");
    rights.refused("PATCH", "/api/v1/namespaces/b/pods/q/status");
    rights.refused("GET", "/api/v1/pods?watch=true&resourceVersion=5");
    rights.refused("GET", "/healthz");
    rights.refused("GET", "/api/v1/%zz");
  };
  refuse();
  EXPECT_EQ(rights.warnings(), 3u);
  time.run(59min);
  refuse();
  EXPECT_EQ(rights.warnings(), 3u);
  time.run(2min);
  refuse();
  EXPECT_EQ(rights.warnings(), 6u);
}

}  // namespace
}  // namespace holdfast::agent
