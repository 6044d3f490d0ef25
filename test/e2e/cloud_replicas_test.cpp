// Two replicas of holdfast-cloud; the leader is killed in the middle of an eviction wave. Every pod
// must be deleted once, and none too early. The test reads the deletions from the API server's
// audit log.

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <fstream>
#include <map>
#include <set>

#include "agent/lab/hollow/nodes.h"
#include "agent/lab/hollow/objects.h"
#include "platform/check.h"
#include "platform/text.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"
#include "test/support/system_loop.h"

namespace holdfast::test {
namespace {

namespace asio = boost::asio;

constexpr int lost_nodes = 20;
constexpr int pods_per_node = 3;
constexpr Duration grace = 3s;
constexpr int patience_seconds = 2;

std::vector<std::string> names(const std::string& zone, int count) {
  std::vector<std::string> list;
  for (int number = 1; number <= count; ++number) {
    list.push_back(zone + "-" + std::to_string(number));
  }
  return list;
}

// Hollow nodes that run while the context runs.
class Site {
 public:
  Site(asio::io_context& context, std::uint16_t port, const std::string& zone,
       const std::vector<std::string>& names)
      : context_(context),
        client_(client_for(port, clock_)),
        nodes_(context.get_executor(), plan_of(zone, names), *client_, 500, clock_) {
    nodes_.start();
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site() {
    nodes_.cancel();
    bool ended = false;
    asio::co_spawn(context_, nodes_.join(), [&ended](const std::exception_ptr&) { ended = true; });
    context_.restart();
    while (!ended) (void)context_.run_one();
  }
  // Stops the nodes' heartbeats for good.
  void silence() { nodes_.cancel(); }

 private:
  static agent::hollow::Plan plan_of(const std::string& zone,
                                     const std::vector<std::string>& names) {
    agent::hollow::Plan plan;
    plan.nodes = names;
    plan.zones = {zone};
    plan.pod_selector = "zone=" + zone;
    plan.lease_interval = plan.status_interval = 1s;
    plan.lease_seconds = 6;
    plan.spread = false;
    plan.pods_start = plan.pods_stop = 0s;
    plan.request_limit = 2s;
    return plan;
  }

  static std::unique_ptr<agent::ApiClient> client_for(std::uint16_t port, const Clock& clock) {
    agent::ClusterAccess access;
    access.server = {"127.0.0.1", port};
    return agent::ApiClient::make(std::move(access), clock, "hollow").value();
  }

  asio::io_context& context_;
  SystemClock clock_;
  std::unique_ptr<agent::ApiClient> client_;
  agent::hollow::HollowNodes nodes_;
};

struct Deletion {
  std::string time;
  std::string pod;
};

class CloudReplicas : public ::testing::Test {
 protected:
  CloudReplicas() {
    std::ofstream(dir() / "kubeconfig") << kubeconfig_for(port_, "lab");
    server_ = std::make_unique<Process>(
        std::vector<std::string>{"holdfast-lab", "apiserver",
                                 "--listen=127.0.0.1:" + std::to_string(port_),
                                 "--data=" + (dir() / "server").string(), "--controllers=false",
                                 "--audit-log-path=" + audit().string()},
        (dir() / "server.log").string());
  }
  ~CloudReplicas() override {
    replicas_.clear();
    server_.reset();
    if (!HasFailure()) return;
    for (const char* log : {"server.log", "first.log", "second.log"}) print_end(dir() / log);
  }

  [[nodiscard]] std::filesystem::path dir() const { return scratch_.path(); }
  [[nodiscard]] std::filesystem::path audit() const { return dir() / "audit.log"; }

  void start_replica(const std::string& name) {
    replicas_[name] = std::make_unique<Process>(
        std::vector<std::string>{
            "holdfast-cloud", "--kubeconfig=" + (dir() / "kubeconfig").string(), "--secure-port=0",
            "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
            "--leader-elect-retry-period=500ms", "--node-monitor-period=200ms",
            "--node-monitor-grace-period=" + format_duration(grace),
            "--node-lease-duration=" + format_duration(grace), "--node-eviction-rate=4"},
        (dir() / (name + ".log")).string());
  }

  // Runs the hollow nodes until `done`, which is checked ten times a second. False after `limit`.
  bool live_until(Duration limit, const std::function<bool()>& done) {
    const MonoTime deadline = now() + limit;
    while (now() < deadline) {
      if (done()) return true;
      context_.restart();
      (void)context_.run_for(100ms);
    }
    return done();
  }

  [[nodiscard]] std::string leader() const {
    return get(port_, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/holdfast-cloud")
        .text({"spec", "holderIdentity"});
  }

  [[nodiscard]] std::string last_renewal(const std::string& node) const {
    return get(port_, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" + node)
        .text({"spec", "renewTime"});
  }

  void make_pods(const std::string& zone, const std::vector<std::string>& nodes) const {
    for (const std::string& node : nodes) {
      for (int number = 0; number < pods_per_node; ++number) {
        const std::string name = node + "-app-" + std::to_string(number);
        const Answer made =
            ask(port_, {.method = http::Method::post,
                        .target = "/api/v1/namespaces/default/pods",
                        .body = agent::hollow::bound_pod({name, node, zone, patience_seconds})});
        ASSERT_EQ(made.status, 201) << made.body;
      }
    }
  }

  // How many nodes have this status in their Ready condition.
  [[nodiscard]] int nodes_that_are(std::string_view ready) const {
    const json::value list = get(port_, "/api/v1/nodes").value();
    int count = 0;
    for (const json::value& node : list.at("items").as_array()) {
      const json::object* status = node.at("status").if_object();
      const json::value* conditions =
          status == nullptr ? nullptr : status->if_contains("conditions");
      if (conditions == nullptr) continue;
      for (const json::value& condition : conditions->as_array()) {
        if (text_in(condition, {"type"}) == "Ready" && text_in(condition, {"status"}) == ready) {
          ++count;
        }
      }
    }
    return count;
  }

  // The deletions of pods that the API server granted, from its audit log.
  [[nodiscard]] std::vector<Deletion> deletions() const {
    std::ifstream file(audit());
    std::vector<Deletion> found;
    for (std::string line; std::getline(file, line);) {
      const auto event = sync::wire::parse_json(line);
      if (!event || text_in(*event, {"verb"}) != "delete") continue;
      if (text_in(*event, {"objectRef", "resource"}) != "pods") continue;
      if (!text_in(*event, {"userAgent"}).starts_with("holdfast-cloud")) continue;
      if (text_in(*event, {"responseStatus", "code"}) != "200") continue;
      found.push_back(
          {text_in(*event, {"requestReceivedTimestamp"}), text_in(*event, {"objectRef", "name"})});
    }
    return found;
  }

  const std::uint16_t port_ = free_port();
  ScratchDir scratch_;
  SystemLoop context_;
  std::unique_ptr<Process> server_;
  std::map<std::string, std::unique_ptr<Process>> replicas_;
};

TEST_F(CloudReplicas, EveryPodIsDeletedOnceThoughTheLeaderIsKilled) {
  ASSERT_TRUE(eventually(30s, [this] { return get(port_, "/readyz").status == 200; }));
  start_replica("first");
  ASSERT_TRUE(eventually(30s, [this] { return !leader().empty(); }));
  const std::string first = leader();
  start_replica("second");

  const auto lost = names("south", lost_nodes);
  const auto kept = names("north", 4);
  Site south(context_, port_, "south", lost);
  Site north(context_, port_, "north", kept);
  const int all = lost_nodes + static_cast<int>(kept.size());
  ASSERT_TRUE(live_until(30s, [this, all] { return nodes_that_are("True") == all; }));
  make_pods("south", lost);
  make_pods("north", kept);
  // The nodes did not run meanwhile, and some may not have had a lease before.
  const std::string made = format_rfc3339(SystemClock().wall(), TimeDigits::micros);
  ASSERT_TRUE(live_until(30s, [this, &lost, &made] {
    return std::all_of(lost.begin(), lost.end(), [this, &made](const std::string& node) {
      return last_renewal(node) > made;
    });
  }));

  south.silence();
  constexpr std::size_t some = 10;
  ASSERT_TRUE(live_until(60s, [this] { return deletions().size() >= some; }));
  replicas_.at("first")->kill();
  const std::size_t before = deletions().size();
  constexpr std::size_t wanted = lost_nodes * pods_per_node;
  ASSERT_LT(before, wanted) << "the wave was over before the leader was killed";
  ASSERT_TRUE(live_until(90s, [this] { return deletions().size() >= wanted; }))
      << deletions().size() << " of " << wanted;
  EXPECT_NE(leader(), first);
  // Two more seconds, in which a duplicate deletion would appear in the audit log.
  (void)live_until(2s, [] { return false; });

  // On a busy machine the last renewals are not equally old.
  std::map<std::string, std::string> earliest;  // by the beginning of the pods' names
  for (const std::string& node : lost) {
    const auto until = parse_rfc3339(last_renewal(node));
    ASSERT_TRUE(until) << node;
    earliest[node + "-app-"] =
        format_rfc3339(*until + grace + std::chrono::seconds(patience_seconds), TimeDigits::micros);
  }
  std::map<std::string, int> times;
  for (const Deletion& deletion : deletions()) {
    ++times[deletion.pod];
    EXPECT_GE(deletion.time, earliest[deletion.pod.substr(0, deletion.pod.size() - 1)])
        << deletion.pod;
  }
  EXPECT_EQ(times.size(), wanted);
  for (const auto& [pod, count] : times) {
    EXPECT_EQ(count, 1) << pod;
    EXPECT_TRUE(pod.starts_with("south-")) << pod;
  }
}

}  // namespace
}  // namespace holdfast::test
