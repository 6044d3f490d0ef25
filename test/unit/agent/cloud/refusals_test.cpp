// What holdfast-cloud does if one kind of its requests is answered with an error and all others are
// not: how often it sends that request in two minutes, and how soon it acts once it succeeds again.

#include "test/unit/agent/cloud/scheduler/scheduler_fixture.h"

namespace holdfast::agent::refusals {
namespace {

const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/";
const std::string election = leases + "kube-system/leases";
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const std::string attachments = "/apis/storage.k8s.io/v1/volumeattachments";

// A cluster in which begin() makes the request necessary.
class Scene {
 public:
  virtual ~Scene() = default;
  virtual void begin() {}
  // Whether holdfast-cloud has done what the request is for.
  virtual bool is_done() = 0;

  SchedulerFixture fixture;
  Cluster& cluster = fixture.cluster;

 protected:
  void start(const std::function<void(CloudSettings&)>& set = [](CloudSettings&) {}) {
    CloudSettings settings = cluster.settings(cluster.proxy);
    set(settings);
    fixture.start(settings);
    cluster.time.run(30s);
  }
};

class LostNode : public Scene {
 public:
  explicit LostNode(const std::string& eviction_mode = "delete") {
    for (const char* name : {"a", "b", "c"}) cluster.add_node(name);
    cluster.add_pod("p", "a");
    start([&eviction_mode](CloudSettings& settings) { settings.eviction_mode = eviction_mode; });
  }
  void begin() override { cluster.silence("a"); }
  bool is_done() override {
    return cluster.ready("a") == "Unknown" && cluster.taints("a") == lost_taints &&
           cluster.is_terminating("p");
  }
};

class EvictsByApi final : public LostNode {
 public:
  EvictsByApi() : LostNode("evict") {}
};

class OutOfService final : public Scene {
 public:
  OutOfService() {
    cluster.add_node("a");
    cluster.add_pod("p", "a", 3600);
    cluster.ask(http::Method::post, attachments,
                R"({"kind":"VolumeAttachment","apiVersion":"storage.k8s.io/v1","metadata":{"name":)"
                R"("v"},"spec":{"attacher":"x","nodeName":"a","source":{)"
                R"("persistentVolumeName":"pv"}}})");
    start();
    cluster.silence("a");
    cluster.ask(http::Method::remove, pods + "/p");
    cluster.time.run(1min);
  }
  void begin() override {
    cluster.ask(http::Method::patch, "/api/v1/nodes/a",
                R"({"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":)"
                R"("NoExecute"}]}})",
                SchedulerFixture::merge);
  }
  bool is_done() override {
    const std::string left = cluster.ask(http::Method::get, attachments);
    return !fixture.exists("p") && left.find(R"("name":"v")") == std::string::npos;
  }
};

class Starting final : public Scene {
 public:
  Starting() { cluster.add_node("a"); }
  void begin() override {
    start([](CloudSettings& settings) { settings.leader.elect = true; });
  }
  bool is_done() override { return (*fixture.replica)->lifecycle().has_started(); }
};

class Leading final : public Scene {
 public:
  Leading() {
    cluster.add_node("a");
    start([](CloudSettings& settings) { settings.leader.elect = true; });
  }
  bool is_done() override { return !fixture.replica->gave_up; }
};

class Scheduling final : public Scene {
 public:
  Scheduling() {
    fixture.add_node("a");
    fixture.start();
    cluster.time.run(5s);
  }
  void begin() override {
    fixture.add_pod("p", "1");
    fixture.add_pod("big", "99");
  }
  bool is_done() override {
    return fixture.is_bound("p") && !fixture.condition("big", "PodScheduled").empty();
  }
};

class Preemption final : public Scene {
 public:
  Preemption() {
    fixture.add_node("a", "1");
    fixture.start();
    fixture.add_pod("low", "1");
    cluster.time.run(5s);
    fixture.run_pod("low");
  }
  void begin() override { fixture.add_pod("vip", "1", R"("priorityClassName":"high")"); }
  bool is_done() override {
    return cluster.is_terminating("low") && fixture.pod("vip").status.nominated_node_name == "a";
  }
};

class NewVolume final : public Scene {
 public:
  NewVolume() {
    fixture.add_node("a");
    cluster.ask(http::Method::post, "/apis/storage.k8s.io/v1/storageclasses",
                R"({"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":)"
                R"("wait"},"provisioner":"example.com/p","volumeBindingMode":)"
                R"("WaitForFirstConsumer"})");
    cluster.ask(http::Method::post, claims,
                R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c"},)"
                R"("spec":{"storageClassName":"wait","accessModes":["ReadWriteOnce"],)"
                R"("resources":{"requests":{"storage":"1"}}}})");
    fixture.start();
    cluster.time.run(5s);
  }
  void begin() override {
    fixture.add_pod("p", "1",
                    R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])");
  }
  bool is_done() override {
    return cluster.ask(http::Method::get, claims + "/c").find("selected-node") != std::string::npos;
  }
};

template <class S>
std::unique_ptr<Scene> make() {
  return std::make_unique<S>();
}

// The number of requests in two minutes, and what came of it: "done" although it was refused, "in N
// s" after it was not refused any more, or "never".
std::string describe(Scene& scene, const std::string& request, int status) {
  FaultyProxy& proxy = scene.cluster.proxy;
  test::VirtualTime& time = scene.cluster.time;
  const auto count = [&proxy, &request] {
    return std::count(proxy.asked.begin(), proxy.asked.end(), request);
  };
  const auto before = count();
  proxy.refuse(request, status);
  scene.begin();
  time.run(2min);
  const std::string asked = std::to_string(count() - before) + "x ";
  if (scene.is_done()) return asked + "done";
  proxy.refuse("");
  const MonoTime healed = time.clock().mono();
  if (!time.run_until(5min, [&scene] { return scene.is_done(); })) return asked + "never";
  const auto took = std::chrono::ceil<std::chrono::seconds>(time.clock().mono() - healed);
  return asked + "in " + std::to_string(took.count()) + " s";
}

struct RefusalRow {
  std::unique_ptr<Scene> (*scene)();
  std::string request;
  std::string expected;  // by status, 0: no answer
};

// Statuses with the same result together: "401 403: 2x done, 404: ...".
std::string describe_all(const RefusalRow& row) {
  std::vector<std::pair<std::string, std::string>> groups;  // result and statuses
  for (const int status : {401, 403, 404, 409, 422, 429, 500, 503, 0}) {
    const auto scene = row.scene();
    const std::string result = describe(*scene, row.request, status);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&result](const auto& each) { return each.first == result; });
    if (group == groups.end()) group = groups.insert(group, {result, ""});
    group->second += (group->second.empty() ? "" : " ") + std::to_string(status);
  }
  std::string text;
  for (const auto& [result, statuses] : groups) {
    text += (text.empty() ? "" : ", ") + statuses + ": " + result;
  }
  return text;
}

// The deletion or mark of a pod on a node in service, and the deletion of a VolumeAttachment, are
// not sent again after 404 or 409: the object is gone. (Here it is not, so the goal is not
// reached.)
TEST(Refusals, OfOneKindOfRequestAreNoFlood) {
  const RefusalRow rows[] = {
      {make<LostNode>, "GET " + leases + "kube-node-lease/leases/a",
       "401 403 409 422 429 500 503: 14x in 10 s, 404: 1x done, 0: 5x in 5 s"},
      {make<LostNode>, "PATCH /api/v1/nodes/a/status",
       "401 403 404 422 429 500 503: 14x in 10 s, 409: 70x in 10 s, 0: 5x in 0 s"},
      {make<LostNode>, "PATCH /api/v1/nodes/a",
       "401 403 404 422 429 500 503: 22x in 10 s, 409: 102x in 1 s, 0: 7x in 0 s"},
      {make<LostNode>, "PATCH " + pods + "/p/status",
       "401 403 422: 21x in 11 s, 404 409: 2x never, 429 500 503: 20x in 17 s, 0: 7x in 0 s"},
      {make<LostNode>, "DELETE " + pods + "/p",
       "401 403 422: 7x in 11 s, 404 409: 1x never, 429 500 503: 7x in 18 s, 0: 5x in 0 s"},
      {make<LostNode>, "POST /api/v1/namespaces/default/events",
       "401 403 404 409 422: 3x done, 429 500 503: 21x done, 0: 8x done"},
      {make<EvictsByApi>, "POST " + pods + "/p/eviction",
       "401 403 409 422: 7x in 11 s, 404: 1x never, 429 500 503: 7x in 17 s, 0: 5x in 0 s"},
      {make<OutOfService>, "GET /api/v1/nodes/a",
       "401 403 404 409 422 429 500 503: 24x in 10 s, 0: 8x in 10 s"},
      {make<OutOfService>, "PATCH " + pods + "/p/status",
       "401 403 404 409 422 429 500 503: 24x in 10 s, 0: 8x in 10 s"},
      {make<OutOfService>, "DELETE " + pods + "/p",
       "401 403 404 409 422 429 500 503: 24x in 10 s, 0: 8x in 5 s"},
      {make<OutOfService>, "GET " + attachments,
       "401 403 409 422 429 500 503: 23x in 5 s, 404: 1x never, 0: 8x in 0 s"},
      {make<OutOfService>, "DELETE " + attachments + "/v",
       "401 403 422 429 500 503: 23x in 5 s, 404 409: 1x never, 0: 8x in 0 s"},
      {make<Starting>, "GET /api/v1/nodes",
       "401 403 404 409 422 429 500 503: 15x in 12 s, 0: 9x in 12 s"},
      {make<Starting>, "GET /api/v1/pods",
       "401 403 404 409 422 429 500 503: 15x in 12 s, 0: 9x in 12 s"},
      {make<Starting>, "GET " + leases + "kube-node-lease/leases",
       "401 403 404 409 422: 22x in 12 s, 429 500 503: 89x in 12 s, 0: 23x in 12 s"},
      {make<Starting>, "GET " + election + "/holdfast-cloud",
       "401 403 409 422 429 500 503: 47x in 2 s, 404: 1x done, 0: 19x in 0 s"},
      {make<Starting>, "POST " + election,
       "401 403 404 409 422 429 500 503: 47x in 1 s, 0: 19x in 3 s"},
      {make<Leading>, "PUT " + election + "/holdfast-cloud",
       "401 403 404 409 422 429 500 503: 10x never, 0: 2x never"},
      {make<Scheduling>, "POST " + pods + "/p/binding",
       "401 403 422: 15x in 5 s, 404: 1x never, 409 429 500 503: 70x in 4 s, 0: 12x in 0 s"},
      {make<Scheduling>, "PATCH " + pods + "/big/status",
       "401 403 404 409 422: 1x in 205 s, 429 500 503: 4x in 205 s, 0: 1x in 0 s"},
      {make<Scheduling>, "POST /apis/events.k8s.io/v1/namespaces/default/events",
       "401 403 404 409 422: 2x done, 429 500 503: 24x done, 0: 13x done"},
      {make<Preemption>, "PATCH " + pods + "/low/status",
       "401 403 404 409 422: 15x in 5 s, 429 500 503: 60x in 5 s, 0: 13x in 0 s"},
      {make<Preemption>, "DELETE " + pods + "/low",
       "401 403 404 409 422: 15x in 5 s, 429 500 503: 60x in 5 s, 0: 13x in 0 s"},
      {make<NewVolume>, "PATCH " + claims + "/c",
       "401 403 404 409 422: 15x in 5 s, 429 500 503: 59x in 1 s, 0: 8x in 0 s"}};
  for (const RefusalRow& row : rows) EXPECT_EQ(describe_all(row), row.expected) << row.request;
}

}  // namespace
}  // namespace holdfast::agent::refusals
