// The parts of the scheduler's process by themselves: configuration, events and API requests.

#include "agent/cloud/scheduler/scheduler_plan.h"
#include "agent/cloud/scheduler/scheduler_writer.h"
#include "agent/cloud/settings.h"
#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {
namespace {

namespace schedule = sync::schedule;

const std::string head =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

TEST(SchedulerConfig, IsReadAsUpstreamsIs) {
  SchedulerPlan plan;
  const Status read = read_scheduler_config(head + R"(
parallelism: 4
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
profiles:
  - schedulerName: mine
    pluginConfig:
      - name: DefaultPreemption
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: DefaultPreemptionArgs
          minCandidateNodesPercentage: 20
          minCandidateNodesAbsolute: 50
      - name: NodeResourcesFit
        args: {ignoredResources: [example.com/a], ignoredResourceGroups: [example.org]}
      - name: VolumeBinding
        args: {bindTimeoutSeconds: 30}
extenders:
  - urlPrefix: https://extender.example:8443/v1/
    filterVerb: filter
    prioritizeVerb: prioritize
    preemptVerb: preempt
    bindVerb: bind
    weight: 5
    enableHTTPS: true
    tlsConfig: {serverName: extender}
    httpTimeout: 100ms
    nodeCacheCapable: true
    ignorable: true
    managedResources:
      - {name: example.com/gpu, ignoredByScheduler: true}
  - urlPrefix: http://other
)",
                                            "", plan);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(plan.name, "mine");
  EXPECT_EQ(plan.parallelism, 4);
  EXPECT_EQ(plan.attempt.percentage_of_nodes, 30);
  EXPECT_EQ(plan.queue.backoff_initial, 2s);
  EXPECT_EQ(plan.queue.backoff_max, 20s);
  EXPECT_EQ(plan.limits.percentage, 20);
  EXPECT_EQ(plan.limits.absolute, 50);
  EXPECT_EQ(plan.volumes_max, 30s);
  EXPECT_EQ(plan.plugins.fit.ignored_resources,
            (std::set<std::string, std::less<>>{"example.com/a", "example.com/gpu"}));
  EXPECT_EQ(plan.plugins.fit.ignored_groups, (std::set<std::string, std::less<>>{"example.org"}));
  ASSERT_EQ(plan.extenders.size(), 2u);
  const ExtenderPlan& first = plan.extenders[0];
  EXPECT_EQ(first.rules.url, "https://extender.example:8443/v1/");
  EXPECT_EQ(first.filter_verb + first.prioritize_verb + first.preempt_verb + first.bind_verb,
            "filterprioritizepreemptbind");
  EXPECT_EQ(first.weight, 5);
  EXPECT_EQ(first.timeout, 100ms);
  EXPECT_TRUE(first.rules.ignorable && first.rules.node_cache_capable && first.rules.preempts);
  EXPECT_TRUE(first.rules.managed_resources.contains("example.com/gpu"));
  EXPECT_TRUE(first.server.tls && first.tls.insecure);
  EXPECT_EQ(first.server.server.path_prefix, "/v1");
  EXPECT_EQ(first.tls.server_name, "extender");
  const ExtenderPlan& second = plan.extenders[1];
  EXPECT_EQ(second.timeout, 5s);
  EXPECT_FALSE(second.rules.preempts);
}

// As kubeadm and others write it for kube-scheduler.
TEST(SchedulerConfig, WhatFlagsSayIsIgnoredAndNamed) {
  SchedulerPlan plan;
  ASSERT_TRUE(read_scheduler_config(
      head + "leaderElection: {leaderElect: true}\n"
             "clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf}\n"
             "enableProfiling: false\n"
             "parallelism: 8\n",
      "", plan));
  EXPECT_EQ(plan.ignored,
            (std::vector<std::string>{"leaderElection", "clientConnection", "enableProfiling"}));
  EXPECT_EQ(plan.parallelism, 8);
}

TEST(SchedulerConfig, WhatIsWrongIsNamed) {
  const auto extender = [](const std::string& fields) {
    return head + "extenders: [{urlPrefix: \"http://x\", " + fields + "}]";
  };
  const struct {
    std::string text;
    std::string why;
  } rows[] = {
      {"", "expected a map"},
      {"a: [", "line 1: "},
      {"kind: Pod\napiVersion: v1", "is no KubeSchedulerConfiguration"},
      {head + "leaderElected: {}", "line 3: \"leaderElected\" is not known here"},
      {head + "leaderElection: true", "leaderElection: expected a map"},
      {head + "enableProfiling: {}", "enableProfiling: expected a value"},
      {head + "parallelism: 0", "parallelism: expected a number from 1 to 1024"},
      {head + "percentageOfNodesToScore: 101",
       "percentageOfNodesToScore: expected a number from 0 to 100"},
      {head + "podInitialBackoffSeconds: 20", "podMaxBackoffSeconds: must not be below"},
      {head + "profiles: [{}, {}]", "profiles: only one is supported"},
      {head + "profiles: {}", "profiles: expected a list"},
      {head + "profiles: [{plugins: {}}]", "profiles[0]: line 3: \"plugins\" is not known here"},
      {head + "profiles: [{pluginConfig: [{name: Wings, args: {}}]}]",
       "profiles[0].pluginConfig[0].name: no arguments of \"Wings\" are known here"},
      {head + "profiles: [{pluginConfig: [{name: DefaultPreemption, args: "
              "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}}]}]",
       "profiles[0].pluginConfig[0].args: minCandidateNodesPercentage, minCandidateNodesAbsolute: "
       "both are zero"},
      {head + "extenders: [{}]", "extenders[0].urlPrefix: must not be empty"},
      {head + "extenders: [{urlPrefix: x}]", "extenders[0].urlPrefix: server \"x\" is neither"},
      {extender("prioritizeVerb: p"), "extenders[0].weight: must be above zero"},
      {extender("weight: -1"), "extenders[0].weight: expected a number from 0"},
      {extender("httpTimeout: soon"), "extenders[0].httpTimeout: "},
      {extender("httpTimeout: 0s"), "extenders[0].httpTimeout: must be above zero"},
      {extender("ignorable: maybe"), "extenders[0].ignorable: expected true or false"},
      {extender("enableHTTPS: true"), "extenders[0].enableHTTPS: urlPrefix is not https://"},
      {extender("managedResources: [{name: cpu}]"),
       "extenders[0].managedResources[0].name: \"cpu\" is no extended resource"},
      {extender("tlsConfig: {caFile: /no/such/file}"), "extenders[0].tlsConfig.caFile: "},
      {head + "extenders: [{urlPrefix: \"http://x\", bindVerb: b}, {urlPrefix: \"http://y\", "
              "bindVerb: b}]",
       "extenders[1].bindVerb: only one extender can bind"},
  };
  for (const auto& row : rows) {
    SchedulerPlan plan;
    const Status read = read_scheduler_config(row.text, "", plan);
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().what.substr(0, row.why.size()), row.why) << row.text;
  }
}

Result<CloudPlan> plan(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "holdfast-cloud");
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  const auto parsed = options.parse(static_cast<int>(flags.size()), flags.data());
  if (!parsed) return fail(parsed.error());
  return plan_of(settings);
}

TEST(SchedulerFlags, SayWhatRunsAndWhatItsLeaseIsCalled) {
  const struct {
    std::vector<const char*> flags;
    bool lifecycle;
    std::string lease;  // "" if the scheduler is off
  } rows[] = {
      {{}, true, ""},
      {{"--controllers=*"}, true, ""},
      {{"--controllers=scheduler"}, false, "holdfast-scheduler"},
      {{"--controllers=scheduler,*"}, true, "holdfast-scheduler"},
      {{"--controllers=*,scheduler,-scheduler"}, true, ""},
      {{"--controllers=*,-nodelifecycle,-taint-eviction,scheduler"}, false, "holdfast-scheduler"},
      {{"--controllers=scheduler", "--scheduler-name=default-scheduler"},
       false,
       "default-scheduler"},
      {{"--controllers=scheduler", "--leader-elect-resource-name=x"}, false, "x"},
      {{"--controllers=*,scheduler", "--leader-elect-resource-name=x"}, true, "holdfast-scheduler"},
  };
  for (const auto& row : rows) {
    const auto found = plan(row.flags);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->lifecycle(), row.lifecycle);
    EXPECT_EQ(found->scheduler ? found->scheduler_leader.resource_name : "", row.lease);
  }
  EXPECT_EQ(plan({"--controllers=scheduler", "--pod-max-in-unschedulable-pods-duration=1m"})
                ->scheduler->queue.pool_stay_max,
            1min);
}

TEST(SchedulerFlags, ContradictionsAreRefusedByName) {
  const struct {
    std::vector<const char*> flags;
    std::string named;
  } rows[] = {
      {{"--controllers=-scheduler"}, "--controllers: nothing is left to run"},
      {{"--controllers=scheduler", "--scheduler-name="}, "--scheduler-name"},
      {{"--controllers=*,scheduler", "--scheduler-name=holdfast-cloud"},
       "--leader-elect-resource-name"},
      {{"--controllers=scheduler", "--scheduler-config=/no/such/file"}, "--scheduler-config"},
      {{"--controllers=scheduler", "--pod-max-in-unschedulable-pods-duration=0s"},
       "--pod-max-in-unschedulable-pods-duration"},
  };
  for (const auto& row : rows) {
    const auto found = plan(row.flags);
    ASSERT_FALSE(found) << row.named;
    EXPECT_NE(found.error().what.find(row.named), std::string::npos) << found.error().what;
  }
}

const schedule::PodKey web{"default", "web-1", "u1"};

TEST(SchedulerRequests, NameTheUidTheyWereDecidedFor) {
  const ApiRequest binding = bind_pod(web, "n1");
  EXPECT_EQ(binding.method, http::Method::post);
  EXPECT_EQ(binding.target, "/api/v1/namespaces/default/pods/web-1/binding");
  EXPECT_EQ(binding.body,
            R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"web-1","namespace":)"
            R"("default","uid":"u1"},"target":{"kind":"Node","name":"n1"}})");
  const ApiRequest clear = clear_nomination({web});
  EXPECT_EQ(clear.method, http::Method::patch);
  EXPECT_EQ(clear.target, "/api/v1/namespaces/default/pods/web-1/status");
  EXPECT_EQ(clear.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(clear.body, R"({"status":{"nominatedNodeName":null},"metadata":{"uid":"u1"}})");
  const ApiRequest patch = patch_status({web, std::nullopt, {}, "n1"});
  EXPECT_EQ(patch.body, R"({"metadata":{"uid":"u1"},"status":{"nominatedNodeName":"n1"}})");
  const ApiRequest deletion = delete_victim({web});
  EXPECT_EQ(deletion.method, http::Method::remove);
  EXPECT_EQ(deletion.body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1"}})");
}

// Otherwise two claims could get one volume.
TEST(SchedulerRequests, NameTheVersionsOfVolumesAndClaims) {
  const schedule::ClaimRef claim{.name = {"default", "data"}, .uid = "u2", .version = "7"};
  schedule::BindVolume binding{.volume = "disk", .uid = "u3", .version = "9", .claim = claim};
  const ApiRequest bound = bind_volume(binding);
  EXPECT_EQ(bound.method, http::Method::patch);
  EXPECT_EQ(bound.target, "/api/v1/persistentvolumes/disk");
  EXPECT_EQ(bound.content_type, "application/merge-patch+json");
  const std::string reference =
      R"("spec":{"claimRef":{"kind":"PersistentVolumeClaim","apiVersion":"v1",)"
      R"("namespace":"default","name":"data","uid":"u2","resourceVersion":"7"}}})";
  EXPECT_EQ(bound.body, R"({"metadata":{"uid":"u3","resourceVersion":"9","annotations":)"
                        R"({"pv.kubernetes.io/bound-by-controller":"yes"}},)" +
                            reference);
  binding.was_reserved = true;
  EXPECT_EQ(bind_volume(binding).body,
            R"({"metadata":{"uid":"u3","resourceVersion":"9"},)" + reference);
  const ApiRequest selected = select_node({.claim = claim, .node = "n1"});
  EXPECT_EQ(selected.method, http::Method::patch);
  EXPECT_EQ(selected.target, "/api/v1/namespaces/default/persistentvolumeclaims/data");
  EXPECT_EQ(selected.content_type, "application/merge-patch+json");
  EXPECT_EQ(selected.body, R"({"metadata":{"uid":"u2","resourceVersion":"7","annotations":)"
                           R"({"volume.kubernetes.io/selected-node":"n1"}}})");
}

// Gives the answers of a list in order, then an error.
class Scripted final : public ApiCaller {
 public:
  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime /*deadline*/) override {
    asked.push_back(std::string(http::to_string(request.method)));
    Result<std::string> answer = fail(Errc::cancelled, "nothing more is expected");
    if (!answers.empty()) {
      answer = answers.front();
      answers.erase(answers.begin());
    }
    co_return answer;
  }

  std::vector<Result<std::string>> answers;
  std::vector<std::string> asked;
};

std::string pod_body(const std::string& uid, const std::string& node, bool deleting = false) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1","uid":")" + uid + "\"" +
         (deleting ? R"(,"deletionTimestamp":"2015-01-01T12:00:00Z")" : "") +
         R"(},"spec":{"nodeName":")" + node + R"("}})";
}

TEST(SchedulerWriter, DecidesAFailedBindingOnThePodAsItIs) {
  const Result<std::string> conflict = fail(Errc::conflict, "conflict");
  const Result<std::string> timeout = fail(Errc::timeout, "no answer");
  const Result<std::string> missing = fail(Errc::not_found, "no such pod");
  const Result<std::string> denied = fail(Errc::denied, "forbidden");
  const Result<std::string> done = std::string("{}");
  const struct {
    std::vector<Result<std::string>> answers;
    std::optional<Errc> end;  // nullopt if the pod was bound
    std::size_t asked;
  } rows[] = {
      {{done}, std::nullopt, 1},
      {{missing}, Errc::not_found, 1},
      {{denied}, Errc::denied, 1},
      {{conflict, pod_body("u1", "n1")}, std::nullopt, 2},
      {{timeout, pod_body("u1", "n1")}, std::nullopt, 2},
      {{conflict, pod_body("u1", "n2")}, Errc::conflict, 2},
      {{conflict, pod_body("u1", "", true)}, Errc::conflict, 2},
      {{conflict, pod_body("u9", "")}, Errc::not_found, 2},
      {{conflict, missing}, Errc::not_found, 2},
      {{timeout, denied}, Errc::timeout, 2},
      {{conflict, pod_body("u1", ""), done}, std::nullopt, 3},
      {{timeout, pod_body("u1", ""), conflict, pod_body("u1", "n1")}, std::nullopt, 4},
  };
  test::VirtualTime time;
  Random random(1);
  for (const auto& row : rows) {
    Scripted api;
    api.answers = row.answers;
    SchedulerWriter writer(api, time.clock(), random);
    Status bound;
    const auto run = [&]() -> asio::awaitable<void> {
      const std::string node = "n1";
      bound = co_await writer.bind(web, node);
    };
    time.complete(run());
    const std::size_t at = static_cast<std::size_t>(&row - rows);
    EXPECT_EQ(bound ? std::nullopt : std::optional(bound.error().code), row.end) << at;
    EXPECT_EQ(api.asked.size(), row.asked) << at;
  }
}

TEST(SchedulerWriter, AsksAServerThatIsNotWellFourTimes) {
  test::VirtualTime time;
  Random random(1);
  Scripted api;
  for (int i = 0; i < 3; ++i) api.answers.emplace_back(fail(Errc::unavailable, "not well"));
  api.answers.emplace_back(std::string("{}"));
  SchedulerWriter writer(api, time.clock(), random);
  std::vector<std::optional<Errc>> all;
  const auto run = [&]() -> asio::awaitable<void> {
    const ApiRequest deletion = delete_victim({web});
    Status sent = co_await writer.write(deletion);
    all.push_back(sent ? std::nullopt : std::optional(sent.error().code));
    for (const Errc code : {Errc::conflict, Errc::not_found, Errc::denied}) {
      api.answers.emplace_back(fail(code, "no"));
      sent = co_await writer.write(deletion);
      all.push_back(sent ? std::nullopt : std::optional(sent.error().code));
    }
  };
  time.complete(run());
  using Codes = std::vector<std::optional<Errc>>;
  EXPECT_EQ(all, (Codes{std::nullopt, Errc::conflict, Errc::not_found, Errc::denied}));
  EXPECT_EQ(api.asked.size(), 7u);
}

}  // namespace
}  // namespace holdfast::agent
