// The StatefulSet controller's plans, performed on objects in memory.

#include "agent/lab/loops/stateful.h"

#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

json::object set_from(std::string_view spec) {
  json::object set =
      json::parse(
          R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"n",)"
          R"("uid":"u"},"spec":{"replicas":3,"serviceName":"dbs",)"
          R"("podManagementPolicy":"OrderedReady",)"
          R"("selector":{"matchLabels":{"a":"b"}},"revisionHistoryLimit":1,"updateStrategy":)"
          R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}},"template":{"metadata":)"
          R"({"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x:1"}]}}}})")
          .as_object();
  const json::object fields = json::parse(spec).as_object();
  for (const auto& field : fields) set["spec"].as_object()[field.key()] = field.value();
  return set;
}

// A set with its objects and a clock. Nodes are played by the test.
struct SetWorld {
  explicit SetWorld(std::string_view spec) : set(set_from(spec)) {}

  json::object& spec() { return set["spec"].as_object(); }
  void use_image(std::string_view image) {
    spec()["template"].at("spec").at("containers").at(0).as_object()["image"] = image;
  }

  static Objects pointers(const std::map<std::string, json::object>& objects) {
    Objects all;
    for (const auto& [name, object] : objects) all.push_back(&object);
    return all;
  }

  // Performs plans until nothing changes. A deleted pod stays until gone() says that it ended.
  void settle() {
    for (int round = 0; round < 20; ++round) {
      const auto before = std::tuple(set, pods, revisions, claims);
      StatefulPlan plan =
          plan_stateful_set(set, {pointers(pods), pointers(revisions), pointers(claims)}, now);
      again = plan.again;
      if (plan.create_revision) add(revisions, *plan.create_revision);
      for (const auto& [name, number] : plan.renumber) revisions.at(name)["revision"] = number;
      for (const std::string& name : plan.remove_revisions) revisions.erase(name);
      for (json::object& claim : plan.create_claims) add(claims, claim);
      for (const auto& [name, owners] : plan.own_claims)
        claims.at(name)["metadata"].as_object()["ownerReferences"] = owners;
      for (const std::string& name : plan.remove) {
        pods.at(name)["metadata"].as_object()["deletionTimestamp"] = format_rfc3339(now);
        ended.push_back(name);
      }
      for (json::object& pod : plan.create) {
        pod["status"] = json::object{{"phase", "Pending"}};
        pod["metadata"].as_object()["uid"] = "uid-" + std::string(sync::wire::name_of(pod));
        add(pods, pod);
      }
      set["status"] = plan.status;
      if (before == std::tuple(set, pods, revisions, claims)) return;
    }
    ADD_FAILURE() << "the controller does not come to rest";
  }
  static void add(std::map<std::string, json::object>& to, const json::object& object) {
    const bool fresh = to.emplace(sync::wire::name_of(object), object).second;
    EXPECT_TRUE(fresh) << "there are two " << sync::wire::name_of(object);
  }

  void ready(const std::string& name) {
    json::object& status = pods.at(name)["status"].as_object();
    status["phase"] = "Running";
    set_condition(status, {{"type", "Ready"}, {"status", "True"}}, format_rfc3339(now));
    settle();
  }
  void gone(const std::string& name) {
    ASSERT_TRUE(sync::wire::is_terminating(pods.at(name))) << name;
    pods.erase(name);
    settle();
  }
  // Plays nodes until nothing waits for them. Returns the pods that ended, in this order.
  std::string run() {
    ended.clear();
    settle();
    for (int round = 0; round < 50; ++round) {
      const auto waits = std::find_if(pods.begin(), pods.end(), [](const auto& entry) {
        return sync::wire::is_terminating(entry.second) || !is_ready(entry.second);
      });
      if (waits == pods.end()) break;
      const std::string name = waits->first;
      sync::wire::is_terminating(waits->second) ? gone(name) : ready(name);
    }
    std::string text;
    for (const std::string& name : ended) text += (text.empty() ? "" : " ") + name;
    return text;
  }

  // "db-0=x:1 db-1=x:2"
  [[nodiscard]] std::string images() {
    std::string text;
    for (auto& [name, pod] : pods) {
      const json::value& image = pod["spec"].at("containers").at(0).at("image");
      text += (text.empty() ? "" : " ") + name + "=" + std::string(image.as_string());
    }
    return text;
  }
  [[nodiscard]] std::string names() const {
    std::string text;
    for (const auto& [name, pod] : pods) text += (text.empty() ? "" : " ") + name;
    return text;
  }
  [[nodiscard]] std::int64_t counted(std::string_view field) const {
    return sync::wire::dig_int(set, {"status", field});
  }

  json::object set;
  std::map<std::string, json::object> pods;
  std::map<std::string, json::object> revisions;
  std::map<std::string, json::object> claims;
  std::vector<std::string> ended;
  WallTime now = parse_rfc3339("2026-11-21T01:00:00Z").value();
  std::optional<WallTime> again;
};

TEST(PlanStatefulSet, CreatesOnePodAfterTheOther) {
  SetWorld world("{}");
  world.settle();
  EXPECT_EQ(world.names(), "db-0");
  world.ready("db-0");
  EXPECT_EQ(world.names(), "db-0 db-1");
  world.ready("db-1");
  world.ready("db-2");
  EXPECT_EQ(world.names(), "db-0 db-1 db-2");
  ASSERT_EQ(world.revisions.size(), 1u);
  const std::string revision = world.revisions.begin()->first;
  EXPECT_EQ(json::serialize(world.set["status"]),
            R"({"observedGeneration":0,"replicas":3,"readyReplicas":3,"currentReplicas":3,)"
            R"("updatedReplicas":3,"availableReplicas":3,"currentRevision":")" +
                revision + R"(","updateRevision":")" + revision + R"(","collisionCount":0})");
  const json::object& pod = world.pods["db-1"];
  EXPECT_EQ(json::serialize(sync::wire::dig_object(pod, {"metadata", "labels"})),
            R"({"a":"b","statefulset.kubernetes.io/pod-name":"db-1",)"
            R"("apps.kubernetes.io/pod-index":"1","controller-revision-hash":")" +
                revision + R"("})");
  EXPECT_EQ(sync::wire::dig_text(pod, {"spec", "hostname"}), "db-1");
  EXPECT_EQ(sync::wire::dig_text(pod, {"spec", "subdomain"}), "dbs");
  EXPECT_EQ(sync::wire::dig_text(pod, {"metadata", "generateName"}), "db-");
}

TEST(PlanStatefulSet, CreatesAllPodsAtOnceIfParallel) {
  SetWorld world(R"({"podManagementPolicy":"Parallel","ordinals":{"start":5}})");
  world.settle();
  EXPECT_EQ(world.names(), "db-5 db-6 db-7");
  world.spec()["replicas"] = 1;
  world.settle();
  EXPECT_EQ(world.ended, (std::vector<std::string>{"db-7", "db-6"}));
}

TEST(PlanStatefulSet, RemovesTheHighestOrdinalFirst) {
  SetWorld world("{}");
  world.run();
  world.spec()["replicas"] = 0;
  world.settle();
  EXPECT_EQ(world.ended, std::vector<std::string>{"db-2"});  // the others wait until it is gone
  world.gone("db-2");
  EXPECT_EQ(world.ended, (std::vector<std::string>{"db-2", "db-1"}));
  EXPECT_EQ(world.run(), "db-0");
  EXPECT_EQ(world.names(), "");
}

TEST(PlanStatefulSet, DoesNotScaleDownPastAnUnreadyPod) {
  SetWorld world("{}");
  world.run();
  set_condition(world.pods["db-0"]["status"].as_object(), {{"type", "Ready"}, {"status", "False"}},
                "2026-11-21T01:00:00Z");
  world.spec()["replicas"] = 2;
  world.settle();
  EXPECT_TRUE(world.ended.empty());
  world.ready("db-0");
  EXPECT_EQ(world.ended, std::vector<std::string>{"db-2"});
}

TEST(PlanStatefulSet, ReplacesAPodOnlyWhenItIsGone) {
  SetWorld world("{}");
  world.run();
  const std::string old(sync::wire::uid_of(world.pods["db-1"]));
  world.pods["db-1"]["status"].as_object()["phase"] = "Failed";
  world.settle();
  EXPECT_EQ(world.ended, std::vector<std::string>{"db-1"});
  EXPECT_EQ(world.names(), "db-0 db-1 db-2");  // the node has not confirmed its end
  world.now += 1h;
  world.settle();
  EXPECT_TRUE(sync::wire::is_terminating(world.pods["db-1"]));
  world.gone("db-1");
  EXPECT_EQ(world.names(), "db-0 db-1 db-2");
  EXPECT_FALSE(sync::wire::is_terminating(world.pods["db-1"]));
}

TEST(PlanStatefulSet, RollsFromTheTopDownToThePartition) {
  SetWorld world("{}");
  world.run();
  world.spec()["updateStrategy"].at("rollingUpdate").as_object()["partition"] = 1;
  world.use_image("x:2");
  EXPECT_EQ(world.run(), "db-2 db-1");
  EXPECT_EQ(world.images(), "db-0=x:1 db-1=x:2 db-2=x:2");
  EXPECT_EQ(world.counted("currentReplicas"), 1);
  EXPECT_EQ(world.counted("updatedReplicas"), 2);
  // A pod below the partition comes back as it was.
  world.pods["db-0"]["metadata"].as_object()["deletionTimestamp"] = "2026-11-21T01:00:00Z";
  world.run();
  EXPECT_EQ(world.images(), "db-0=x:1 db-1=x:2 db-2=x:2");
  world.spec()["updateStrategy"].at("rollingUpdate").as_object()["partition"] = 0;
  EXPECT_EQ(world.run(), "db-0");
  EXPECT_EQ(world.images(), "db-0=x:2 db-1=x:2 db-2=x:2");
  EXPECT_EQ(world.counted("currentReplicas"), 3);
  EXPECT_EQ(world.set["status"].at("currentRevision"), world.set["status"].at("updateRevision"));
}

TEST(PlanStatefulSet, WaitsForEachPodOfARollout) {
  SetWorld world("{}");
  world.run();
  world.use_image("x:2");
  world.settle();
  EXPECT_EQ(world.ended, std::vector<std::string>{"db-2"});
  world.gone("db-2");
  EXPECT_EQ(world.ended.size(), 1u);  // db-2 is not ready yet
  world.ready("db-2");
  EXPECT_EQ(world.ended, (std::vector<std::string>{"db-2", "db-1"}));
}

TEST(PlanStatefulSet, UpdatesPodsThatOthersDelete) {
  SetWorld world(R"({"updateStrategy":{"type":"OnDelete"}})");
  world.run();
  world.use_image("x:2");
  EXPECT_EQ(world.run(), "");
  EXPECT_EQ(world.images(), "db-0=x:1 db-1=x:1 db-2=x:1");
  world.pods["db-1"]["metadata"].as_object()["deletionTimestamp"] = "2026-11-21T01:00:00Z";
  world.run();
  EXPECT_EQ(world.images(), "db-0=x:1 db-1=x:2 db-2=x:1");
}

TEST(PlanStatefulSet, KeepsRevisionsForAWayBack) {
  SetWorld world(R"({"replicas":1})");
  world.run();
  const std::string first = world.revisions.begin()->first;
  for (const std::string_view image : {"x:2", "x:3", "x:1"}) {
    world.use_image(image);
    world.run();
  }
  // x:2 is beyond the limit; x:1 has its old name and a new number.
  EXPECT_EQ(world.revisions.size(), 2u);
  EXPECT_EQ(sync::wire::dig_text(world.set, {"status", "currentRevision"}), first);
  EXPECT_EQ(world.revisions.at(first).at("revision"), 4);
  EXPECT_EQ(world.images(), "db-0=x:1");
}

TEST(PlanStatefulSet, WaitsUntilPodsAreAvailable) {
  SetWorld world(R"({"minReadySeconds":10})");
  world.settle();
  world.ready("db-0");
  EXPECT_EQ(world.names(), "db-0");
  EXPECT_EQ(world.counted("readyReplicas"), 1);
  EXPECT_EQ(world.counted("availableReplicas"), 0);
  EXPECT_EQ(world.again, world.now + 10s);
  world.now += 10s;
  world.settle();
  EXPECT_EQ(world.names(), "db-0 db-1");
}

constexpr std::string_view with_claims =
    R"({"replicas":2,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain",)"
    R"("whenScaled":"Delete"},"volumeClaimTemplates":[{"metadata":{"name":"data","labels":)"
    R"({"x":"y"}},"spec":{"accessModes":["ReadWriteOnce"]}}]})";

TEST(PlanStatefulSet, GivesEachOrdinalItsClaims) {
  SetWorld world(with_claims);
  world.run();
  ASSERT_EQ(world.claims.size(), 2u);
  EXPECT_EQ(json::serialize(world.claims.begin()->second),
            R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"data-db-0",)"
            R"("labels":{"x":"y","a":"b"},"namespace":"n"},"spec":{"accessModes":)"
            R"(["ReadWriteOnce"]}})");
  EXPECT_EQ(json::serialize(sync::wire::dig_list(world.pods["db-1"], {"spec", "volumes"})),
            R"([{"name":"data","persistentVolumeClaim":{"claimName":"data-db-1"}}])");
  // The claim of a pod that is scaled away is deleted with it.
  world.spec()["replicas"] = 1;
  world.settle();
  const json::array& owners =
      sync::wire::dig_list(world.claims["data-db-1"], {"metadata", "ownerReferences"});
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0].at("uid"), "uid-db-1");
  EXPECT_TRUE(
      sync::wire::dig_list(world.claims["data-db-0"], {"metadata", "ownerReferences"}).empty());
}

TEST(PlanStatefulSet, WaitsForAClaimThatIsBeingDeleted) {
  SetWorld world(with_claims);
  world.run();
  world.pods.erase("db-1");
  world.claims["data-db-1"]["metadata"].as_object()["deletionTimestamp"] = "2026-11-21T01:00:00Z";
  world.settle();
  EXPECT_EQ(world.names(), "db-0");
  world.claims.erase("data-db-1");
  world.run();
  EXPECT_EQ(world.names(), "db-0 db-1");
  EXPECT_TRUE(world.claims.contains("data-db-1"));
}

TEST(OrdinalOf, ReadsTheEndOfTheName) {
  const std::pair<std::string_view, std::int64_t> cases[] = {
      {"db-0", 0},  {"my-db-17", 17},       {"db", -1}, {"db-", -1},
      {"db-x", -1}, {"db-99999999999", -1}, {"-3", 3}};
  for (const auto& [name, ordinal] : cases) {
    EXPECT_EQ(ordinal_of({{"metadata", json::object{{"name", name}}}}), ordinal) << name;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
