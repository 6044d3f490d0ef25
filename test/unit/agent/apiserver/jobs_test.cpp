// Jobs and StatefulSets through the API: defaults, validation, tables, and the controllers.

#include <map>
#include <set>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using agent::lab::condition_status;
using agent::lab::is_finished;
using agent::lab::set_condition;
using namespace std::chrono_literals;

constexpr std::string_view all_jobs_path = "/apis/batch/v1/namespaces/default/jobs";
constexpr std::string_view sets_path = "/apis/apps/v1/namespaces/default/statefulsets";
constexpr std::string_view own_pods_path = "/api/v1/namespaces/default/pods";
constexpr const char* apps_path = "/apis/apps/v1/namespaces/default/";

json::object from_text(std::string_view text) { return json::parse(text).as_object(); }

json::object a_job(std::string_view spec = "{}") {
  json::object job =
      from_text(R"({"metadata":{"name":"pi"},"spec":{"template":{"spec":{"restartPolicy":"Never",)"
                R"("containers":[{"name":"c","image":"x:1"}]}}}})");
  for (const auto& field : from_text(spec)) job["spec"].as_object()[field.key()] = field.value();
  return job;
}

json::object a_set(std::string_view spec = "{}") {
  json::object set =
      from_text(R"({"metadata":{"name":"db"},"spec":{"serviceName":"db","replicas":2,"selector":)"
                R"({"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":)"
                R"({"containers":[{"name":"c","image":"x:1"}]}}}})");
  for (const auto& field : from_text(spec)) set["spec"].as_object()[field.key()] = field.value();
  return set;
}

// Adds a node that takes pods.
void open_node(ApiServerFixture& fixture) {
  fixture.post("/api/v1/nodes", from_text(R"({"metadata":{"name":"a"},"status":{"conditions":)"
                                          R"([{"type":"Ready","status":"True"}]}})"));
  fixture.patch("/api/v1/nodes/a", from_text(R"({"spec":{"taints":null}})"));
}

// In place of a kubelet: bound pods get this phase, deleted ones end.
void play_node(ApiServerFixture& fixture, std::string_view phase) {
  const json::object list = fixture.get(std::string(own_pods_path));
  for (const json::value& item : list.at("items").as_array()) {
    const json::object& pod = item.as_object();
    const std::string path =
        std::string(own_pods_path) + "/" + std::string(sync::wire::name_of(pod));
    if (sync::wire::dig_text(pod, {"spec", "nodeName"}).empty()) continue;
    if (sync::wire::is_terminating(pod)) {
      fixture.remove(path, R"({"gracePeriodSeconds":0})");
    } else if (!is_finished(pod)) {
      json::object status = {{"phase", phase}};
      const bool runs = phase == "Running";
      set_condition(status, {{"type", "Ready"}, {"status", runs ? "True" : "False"}},
                    format_rfc3339(fixture.clock().wall()));
      fixture.patch(path + "/status", {{"status", status}});
    }
  }
}

void play(ApiServerFixture& fixture, std::string_view phase, int rounds = 6) {
  for (int round = 0; round < rounds; ++round) {
    fixture.advance(1s);
    play_node(fixture, phase);
  }
  fixture.advance(1s);
}

std::string cells(ApiServerFixture& fixture, const std::string& path) {
  const TestResponse answer =
      fixture.ask({.target = path, .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});
  std::string text;
  const json::object table = answer.object();
  for (const json::value& row : table.at("rows").as_array()) {
    if (!text.empty()) text += '\n';
    text += json::serialize(row.at("cells"));
  }
  return text;
}

// A Deployment, ReplicaSet or DaemonSet whose pods have the labels of a_set().
json::object a_workload(std::string_view name) {
  json::object made = a_set();
  made["metadata"] = json::object{{"name", name}};
  made["spec"].as_object().erase("serviceName");
  made["spec"].as_object().erase("replicas");
  return made;
}

// The number of pods by the kind of their controllers; "" stands for none.
std::map<std::string, int> pods_by_controller(ApiServerFixture& fixture) {
  std::map<std::string, int> counts;
  const json::object list = fixture.get(std::string(own_pods_path));
  for (const json::value& pod : list.at("items").as_array()) {
    const json::object& controller = sync::wire::controller_of(pod.as_object());
    ++counts[std::string(sync::wire::dig_text(controller, {"kind"}))];
  }
  return counts;
}

// The managers in the managedFields of the object, or of the only object of a list.
std::set<std::string> managers_of(const json::object& answer) {
  const json::value* items = answer.if_contains("items");
  const json::object& object = items == nullptr ? answer : items->as_array().at(0).as_object();
  std::set<std::string> managers;
  for (const json::value& entry : sync::wire::dig_list(object, {"metadata", "managedFields"})) {
    managers.emplace(sync::wire::dig_text(entry.as_object(), {"manager"}));
  }
  return managers;
}

TEST(Jobs, GetDefaultsAndASelectorOfTheirOwn) {
  ApiServerFixture fixture;
  const json::object job = fixture.post(std::string(all_jobs_path), a_job());
  const std::string uid(sync::wire::uid_of(job));
  json::object spec = sync::wire::dig_object(job, {"spec"});
  EXPECT_EQ(json::serialize(spec["selector"]),
            R"({"matchLabels":{"batch.kubernetes.io/controller-uid":")" + uid + R"("}})");
  EXPECT_EQ(json::serialize(sync::wire::dig_object(spec, {"template", "metadata", "labels"})),
            R"({"batch.kubernetes.io/controller-uid":")" + uid +
                R"(","batch.kubernetes.io/job-name":"pi","controller-uid":")" + uid +
                R"(","job-name":"pi"})");
  spec.erase("selector");
  spec.erase("template");
  EXPECT_EQ(spec, from_text(R"({"parallelism":1,"completions":1,"backoffLimit":6,)"
                            R"("completionMode":"NonIndexed","suspend":false,)"
                            R"("manualSelector":false,)"
                            R"("podReplacementPolicy":"TerminatingOrFailed"})"));
}

TEST(Jobs, AreRefusedWithUpstreamsMessages) {
  struct Case {
    std::string_view spec;
    std::string_view message;
  };
  const Case cases[] = {
      {R"({"parallelism":-1})",
       "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
      {R"({"completionMode":"Indexed","parallelism":1})",
       "spec.completions: Required value: when completion mode is Indexed"},
      {R"({"completionMode":"Both"})",
       R"(spec.completionMode: Unsupported value: "Both": supported values: "NonIndexed", )"
       R"("Indexed")"},
      {R"({"podFailurePolicy":{"rules":[]}})",
       "spec.podFailurePolicy: Forbidden: holdfast-lab does not support this field of Jobs"},
      {R"({"successPolicy":{"rules":[{"succeededCount":1}]}})",
       "spec.successPolicy: Forbidden: holdfast-lab does not support this field of Jobs"},
      {R"({"backoffLimitPerIndex":1})",
       "spec.backoffLimitPerIndex: Forbidden: holdfast-lab does not support this field of Jobs"},
      {R"({"maxFailedIndexes":1})",
       "spec.maxFailedIndexes: Forbidden: holdfast-lab does not support this field of Jobs"},
      {R"({"template":{"spec":{"containers":[{"name":"c","image":"x:1"}]}}})",
       R"(spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never")"},
      {R"({"selector":{"matchLabels":{"a":"b"}}})", "`selector` not auto-generated"},
  };
  ApiServerFixture fixture;
  for (const Case& each : cases) {
    const TestResponse answer = fixture.ask({.method = "POST",
                                             .target = std::string(all_jobs_path),
                                             .body = json::serialize(a_job(each.spec)),
                                             .content_type = "application/json"});
    EXPECT_EQ(answer.status, 422) << each.spec;
    EXPECT_NE(sync::wire::dig_text(answer.object(), {"message"}).find(each.message),
              std::string::npos)
        << answer.body;
  }
}

TEST(Jobs, RunUntilTheyAreComplete) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(all_jobs_path), a_job(R"({"completions":3,"parallelism":2})"));
  fixture.advance(1s);
  EXPECT_EQ(cells(fixture, std::string(all_jobs_path)).substr(0, 29),
            R"(["pi","Running","0/3","0s","1)");
  play(fixture, "Succeeded");
  const json::object job = fixture.get(std::string(all_jobs_path) + "/pi");
  json::object status = sync::wire::dig_object(job, {"status"});
  EXPECT_EQ(condition_status(job, "Complete"), "True");
  EXPECT_EQ(condition_status(job, "SuccessCriteriaMet"), "True");
  status.erase("conditions");
  EXPECT_EQ(status.at("succeeded"), 3);
  EXPECT_EQ(json::serialize(status["uncountedTerminatedPods"]), "{}");
  EXPECT_EQ(status.at("ready"), 0);
  EXPECT_EQ(cells(fixture, std::string(all_jobs_path)).substr(0, 24),
            R"(["pi","Complete","3/3",")");
  const json::object pods = fixture.get(std::string(own_pods_path));
  for (const json::value& pod : pods.at("items").as_array())
    EXPECT_FALSE(pod.at("metadata").as_object().contains("finalizers"));
  const std::int64_t revision = fixture.server().registry().revision();
  for (int round = 0; round < 5; ++round) fixture.advance(10s);
  EXPECT_EQ(fixture.server().registry().revision(), revision) << "it does not come to rest";
}

TEST(Jobs, WaitBetweenFailuresAndThenFail) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(all_jobs_path), a_job(R"({"backoffLimit":1})"));
  play(fixture, "Failed");
  EXPECT_EQ(fixture.get(std::string(own_pods_path)).at("items").as_array().size(), 1u);
  fixture.advance(10s);
  EXPECT_EQ(fixture.get(std::string(own_pods_path)).at("items").as_array().size(), 2u);
  play(fixture, "Failed");
  const json::object job = fixture.get(std::string(all_jobs_path) + "/pi");
  EXPECT_EQ(condition_status(job, "Failed"), "True");
  EXPECT_EQ(sync::wire::dig_int(job, {"status", "failed"}), 2);
}

TEST(Jobs, AreDeletedWithTheirPods) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(all_jobs_path), a_job(R"({"ttlSecondsAfterFinished":30})"));
  play(fixture, "Running");
  EXPECT_EQ(fixture.get(std::string(own_pods_path)).at("items").as_array().size(), 1u);
  fixture.remove(std::string(all_jobs_path) + "/pi", R"({"propagationPolicy":"Background"})");
  play(fixture, "Running");
  EXPECT_TRUE(fixture.get(std::string(own_pods_path)).at("items").as_array().empty());
  fixture.post(std::string(all_jobs_path), a_job(R"({"ttlSecondsAfterFinished":30})"));
  play(fixture, "Succeeded");
  fixture.advance(40s);
  EXPECT_EQ(fixture.ask({.target = std::string(all_jobs_path) + "/pi"}).status, 404);
}

TEST(Jobs, ContinueAfterARestartOfTheServer) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(all_jobs_path), a_job(R"({"completions":2,"parallelism":1})"));
  play(fixture, "Succeeded", 2);
  fixture.restart();
  play(fixture, "Succeeded");
  const json::object job = fixture.get(std::string(all_jobs_path) + "/pi");
  EXPECT_EQ(sync::wire::dig_int(job, {"status", "succeeded"}), 2);
  EXPECT_EQ(condition_status(job, "Complete"), "True");
}

TEST(StatefulSets, StartAndRollInOrder) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(sets_path), a_set());
  fixture.advance(1s);
  EXPECT_EQ(fixture.get(std::string(own_pods_path)).at("items").as_array().size(), 1u);
  play(fixture, "Running");
  EXPECT_EQ(cells(fixture, std::string(sets_path)).substr(0, 11), R"(["db","2/2")");
  const json::object before = fixture.get(std::string(own_pods_path) + "/db-1");
  fixture.patch(std::string(sets_path) + "/db",
                from_text(R"({"spec":{"template":{"metadata":{"annotations":{"n":"2"}}}}})"));
  play(fixture, "Running", 12);
  const json::object after = fixture.get(std::string(own_pods_path) + "/db-1");
  EXPECT_NE(sync::wire::uid_of(before), sync::wire::uid_of(after));
  const json::object set = fixture.get(std::string(sets_path) + "/db");
  EXPECT_EQ(sync::wire::dig_int(set, {"status", "updatedReplicas"}), 2);
  EXPECT_EQ(set.at("status").at("currentRevision"), set.at("status").at("updateRevision"));
  EXPECT_EQ(sync::wire::dig_text(sync::wire::dig_object(after, {"metadata", "labels"}),
                                 {"controller-revision-hash"}),
            sync::wire::dig_text(set, {"status", "updateRevision"}));
  const json::object revisions =
      fixture.get("/apis/apps/v1/namespaces/default/controllerrevisions");
  EXPECT_EQ(revisions.at("items").as_array().size(), 2u);
  EXPECT_NE(cells(fixture, "/apis/apps/v1/namespaces/default/controllerrevisions")
                .find(R"("statefulset.apps/db","2")"),
            std::string::npos);
  const std::int64_t revision = fixture.server().registry().revision();
  for (int round = 0; round < 5; ++round) fixture.advance(10s);
  EXPECT_EQ(fixture.server().registry().revision(), revision) << "it does not come to rest";
}

TEST(StatefulSets, HaveClaimsAndASubresourceScale) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(sets_path),
               a_set(R"({"podManagementPolicy":"Parallel","volumeClaimTemplates":[{"metadata":)"
                     R"({"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
                     R"({"requests":{"storage":"1Gi"}}}}],"template":{"metadata":{"labels":)"
                     R"({"a":"b"}},"spec":{"containers":[{"name":"c","image":"x:1",)"
                     R"("volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}})"));
  fixture.advance(1s);
  fixture.patch(std::string(sets_path) + "/db/scale", from_text(R"({"spec":{"replicas":3}})"));
  fixture.advance(1s);
  std::string names;
  const json::object claims = fixture.get("/api/v1/namespaces/default/persistentvolumeclaims");
  for (const json::value& claim : claims.at("items").as_array())
    names += std::string(sync::wire::name_of(claim.as_object())) + " ";
  EXPECT_EQ(names, "data-db-0 data-db-1 data-db-2 ");
  EXPECT_EQ(fixture.get(std::string(own_pods_path)).at("items").as_array().size(), 3u);
}

TEST(Workloads, CauseNoEventsButThoseOfTheScheduler) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(all_jobs_path), a_job(R"({"backoffLimit":0})"));
  fixture.post(std::string(sets_path), a_set());
  fixture.post(apps_path + std::string("deployments"), a_workload("web"));
  fixture.post(apps_path + std::string("daemonsets"), a_workload("agent"));
  play(fixture, "Running");
  play(fixture, "Failed", 1);
  play(fixture, "Running");
  const json::object job = fixture.get(std::string(all_jobs_path) + "/pi");
  EXPECT_EQ(condition_status(job, "Failed"), "True");
  std::set<std::string> seen;
  const json::object events = fixture.get("/api/v1/namespaces/default/events");
  for (const json::value& item : events.at("items").as_array()) {
    const json::object& event = item.as_object();
    seen.insert(std::string(sync::wire::dig_text(event, {"source", "component"})) + " " +
                std::string(sync::wire::dig_text(event, {"involvedObject", "kind"})) + " " +
                std::string(sync::wire::dig_text(event, {"reason"})));
  }
  EXPECT_EQ(seen, std::set<std::string>{"default-scheduler Pod Scheduled"});
}

TEST(Workloads, DoNotAdoptOrphans) {
  ApiServerFixture fixture;
  open_node(fixture);
  fixture.post(std::string(own_pods_path),
               from_text(R"({"metadata":{"name":"db-7","labels":{"a":"b"}},"spec":)"
                         R"({"containers":[{"name":"c","image":"x:1"}]}})"));
  play(fixture, "Running", 1);
  fixture.post(std::string(sets_path), a_set(R"({"replicas":1})"));
  for (const std::string kind : {"replicasets", "daemonsets", "deployments"}) {
    fixture.post(apps_path + kind, a_workload("web"));
  }
  fixture.post(std::string(all_jobs_path),
               a_job(R"({"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":)"
                     R"({"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",)"
                     R"("containers":[{"name":"c","image":"x:1"}]}}})"));
  play(fixture, "Running");
  // One ReplicaSet is the Deployment's own, the other one had no owner before.
  EXPECT_EQ(pods_by_controller(fixture),
            (std::map<std::string, int>{
                {"", 1}, {"DaemonSet", 1}, {"Job", 1}, {"ReplicaSet", 2}, {"StatefulSet", 1}}));
  EXPECT_FALSE(sync::wire::is_terminating(fixture.get(std::string(own_pods_path) + "/db-7")));
  const json::object set = fixture.get(apps_path + std::string("replicasets/web"));
  EXPECT_EQ(sync::wire::dig(set, {"metadata", "ownerReferences"}), nullptr);
}

TEST(Workloads, HaveTheirControllersAsManagers) {
  ApiServerFixture fixture;
  open_node(fixture);
  const std::string deployments = apps_path + std::string("deployments");
  fixture.post(deployments + "?fieldManager=me", a_workload("web"));
  for (int round = 0; round < 3; ++round) fixture.advance(1s);
  const std::set<std::string> own = {"holdfast-lab"};
  EXPECT_EQ(managers_of(fixture.get(deployments + "/web")),
            (std::set<std::string>{"holdfast-lab", "me"}));
  EXPECT_EQ(managers_of(fixture.get(apps_path + std::string("replicasets"))), own);
  EXPECT_EQ(managers_of(fixture.get(std::string(own_pods_path))), own);
}

TEST(StatefulSets, RefuseChangesOfWhatPodsAreTiedTo) {
  ApiServerFixture fixture;
  fixture.post(std::string(sets_path), a_set());
  const TestResponse answer = fixture.ask({.method = "PATCH",
                                           .target = std::string(sets_path) + "/db",
                                           .body = R"({"spec":{"serviceName":"other"}})",
                                           .content_type = "application/merge-patch+json"});
  EXPECT_EQ(answer.status, 422);
  EXPECT_NE(answer.body.find("updates to statefulset spec for fields other than 'replicas'"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
