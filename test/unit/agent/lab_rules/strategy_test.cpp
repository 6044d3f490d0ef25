// How the server changes objects before it stores them and when it deletes them.

#include "agent/lab/rules/strategy.h"

#include <boost/json.hpp>

#include "agent/lab/rules/decode.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

WallTime written_at() { return parse_rfc3339("2026-11-21T01:00:00Z").value(); }

const sync::printing::Resource& kind(std::string_view group, std::string_view name) {
  return *sync::printing::find_kind(group, name);
}

json::object made(const sync::printing::Resource& resource, std::string_view text) {
  return canonical(resource, json::parse(text).as_object());
}

Answer<json::object> create(const sync::printing::Resource& resource, std::string_view text,
                            std::string_view name_space = "n") {
  Random random(7);
  return prepare_create(resource, made(resource, text), {name_space, {}}, written_at(), random);
}

TEST(PrepareCreate, GeneratesNames) {
  const auto pod = create(kind("", "Pod"), R"({"metadata":{"generateName":"g-"}})");
  ASSERT_TRUE(pod);
  const std::string name(sync::wire::name_of(*pod));
  EXPECT_EQ(name.size(), 7u);
  EXPECT_TRUE(name.starts_with("g-"));
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 2), std::string::npos);
  EXPECT_EQ(sync::wire::namespace_of(*pod), "n");
}

TEST(PrepareCreate, TakesNothingThatOnlyTheServerSays) {
  const auto deployment =
      create(kind("apps", "Deployment"),
             R"({"metadata":{"name":"d","uid":"mine","generation":9,)"
             R"("deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":5},)"
             R"("status":{"replicas":9}})");
  ASSERT_TRUE(deployment);
  EXPECT_NE(sync::wire::uid_of(*deployment), "mine");
  EXPECT_EQ(sync::wire::uid_of(*deployment).size(), 36u);
  EXPECT_EQ(sync::wire::dig_int(*deployment, {"metadata", "generation"}), 1);
  EXPECT_FALSE(sync::wire::is_terminating(*deployment));
  EXPECT_EQ(sync::wire::dig_text(*deployment, {"metadata", "creationTimestamp"}),
            "2026-11-21T01:00:00Z");
  EXPECT_EQ(sync::wire::dig_object(*deployment, {"status"}), json::object());
}

TEST(PrepareCreate, RefusesAnotherNamespaceAndAVersion) {
  EXPECT_EQ(create(kind("", "Pod"), R"({"metadata":{"name":"p","namespace":"m"}})").error().code,
            400);
  EXPECT_EQ(create(kind("", "Pod"), R"({"metadata":{"name":"p","resourceVersion":"5"}})").error(),
            sync::wire::status::unexplained(
                "resourceVersion should not be set on objects to be created"));
}

constexpr std::string_view stored_deployment =
    R"({"metadata":{"name":"d","namespace":"n","uid":"u","resourceVersion":"5","generation":2,)"
    R"("creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":1},)"
    R"("status":{"replicas":1}})";

Answer<json::object> update(std::string_view text, Part part) {
  const sync::printing::Resource& resource = kind("apps", "Deployment");
  return prepare_update(resource, made(resource, text), made(resource, stored_deployment),
                        {"n", "d"}, part);
}

TEST(PrepareUpdate, CountsChangesOfTheSpecOnly) {
  const auto resized = update(
      R"({"metadata":{"name":"d"},"spec":{"replicas":3},"status":{"replicas":7}})", Part::object);
  ASSERT_TRUE(resized);
  EXPECT_EQ(sync::wire::dig_int(*resized, {"metadata", "generation"}), 3);
  EXPECT_EQ(sync::wire::dig_int(*resized, {"status", "replicas"}), 1);
  const auto labeled =
      update(R"({"metadata":{"name":"d","labels":{"a":"b"}},"spec":{"replicas":1}})", Part::object);
  ASSERT_TRUE(labeled);
  EXPECT_EQ(sync::wire::dig_int(*labeled, {"metadata", "generation"}), 2);
  EXPECT_EQ(sync::wire::uid_of(*labeled), "u");
  const auto reported = update(
      R"({"metadata":{"name":"d"},"spec":{"replicas":3},"status":{"replicas":7}})", Part::status);
  ASSERT_TRUE(reported);
  EXPECT_EQ(sync::wire::dig_int(*reported, {"metadata", "generation"}), 2);
  EXPECT_EQ(sync::wire::dig_int(*reported, {"spec", "replicas"}), 1);
  EXPECT_EQ(sync::wire::dig_int(*reported, {"status", "replicas"}), 7);
}

TEST(PrepareUpdate, RefusesAnotherObject) {
  const auto refused = [](std::string_view metadata) {
    return update(R"({"metadata":)" + std::string(metadata) + "}", Part::object).error();
  };
  EXPECT_EQ(refused(R"({"name":"e"})"),
            sync::wire::status::bad_request(
                "the name of the object (e) does not match the name on the URL "
                "(d)"));
  EXPECT_EQ(refused(R"({"name":"d","namespace":"m"})").code, 400);
  EXPECT_EQ(refused(R"({"name":"d","resourceVersion":"4"})"),
            sync::wire::status::conflict({"apps", "deployments"}, "d"));
  EXPECT_EQ(refused(R"({"name":"d","uid":"v"})"),
            sync::wire::status::conflict(
                {"apps", "deployments"}, "d",
                "Precondition failed: UID in precondition: v, UID in object meta: u"));
}

struct DeletionCase {
  std::string name;
  std::string object;
  DeleteOptions options;
  std::string deletion_timestamp;  // of the object that is stored first; "" if none is
  bool remove;
};

class DeletionCases : public testing::TestWithParam<DeletionCase> {};

TEST_P(DeletionCases, EndAsUpstreamEndsThem) {
  const DeletionCase& c = GetParam();
  const sync::printing::Resource& pods = kind("", "Pod");
  const Deletion deletion = plan_deletion(pods, made(pods, c.object), c.options, written_at());
  EXPECT_EQ(deletion.marked
                ? sync::wire::dig_text(*deletion.marked, {"metadata", "deletionTimestamp"})
                : "",
            c.deletion_timestamp);
  EXPECT_EQ(deletion.remove, c.remove);
}

DeleteOptions grace(std::int64_t seconds) {
  DeleteOptions options;
  options.grace_seconds = seconds;
  return options;
}

const DeletionCase deletions[] = {
    {"bound", R"({"spec":{"nodeName":"n"}})", {}, "2026-11-21T01:00:30Z", false},
    {"bound_with_own_time",
     R"({"spec":{"nodeName":"n","terminationGracePeriodSeconds":5}})",
     {},
     "2026-11-21T01:00:05Z",
     false},
    {"bound_shorter", R"({"spec":{"nodeName":"n"}})", grace(1), "2026-11-21T01:00:01Z", false},
    {"bound_now", R"({"spec":{"nodeName":"n"}})", grace(0), "2026-11-21T01:00:00Z", true},
    {"unbound", "{}", {}, "2026-11-21T01:00:00Z", true},
    {"finished",
     R"({"spec":{"nodeName":"n"},"status":{"phase":"Failed"}})",
     {},
     "2026-11-21T01:00:00Z",
     true},
    {"held_by_a_finalizer",
     R"({"metadata":{"finalizers":["a/b"]}})",
     {},
     "2026-11-21T01:00:00Z",
     false},
    {"again_the_same",
     R"({"metadata":{"deletionTimestamp":"2026-11-21T01:00:20Z",)"
     R"("deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
     {},
     "",
     false},
    {"again_longer",
     R"({"metadata":{"deletionTimestamp":"2026-11-21T01:00:20Z",)"
     R"("deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
     grace(60), "", false},
    {"again_sooner",
     R"({"metadata":{"deletionTimestamp":"2026-11-21T01:00:20Z",)"
     R"("deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
     grace(10), "2026-11-21T01:00:00Z", false},
    {"at_last",
     R"({"metadata":{"deletionTimestamp":"2026-11-21T01:00:20Z",)"
     R"("deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
     grace(0), "2026-11-21T00:59:50Z", true},
};

INSTANTIATE_TEST_SUITE_P(, DeletionCases, testing::ValuesIn(deletions),
                         [](const auto& c) { return c.param.name; });

TEST(Preconditions, NameWhatDiffers) {
  const sync::printing::Resource& pods = kind("", "Pod");
  const json::object pod =
      made(pods, R"({"metadata":{"name":"p","uid":"u","resourceVersion":"5"}})");
  DeleteOptions options;
  options.uid = "u";
  options.resource_version = "5";
  EXPECT_TRUE(check_preconditions(pods, pod, options));
  options.resource_version = "4";
  EXPECT_EQ(check_preconditions(pods, pod, options).error().message,
            "Operation cannot be fulfilled on Pod \"p\": the ResourceVersion in the precondition "
            "(4) does not match the ResourceVersion in record (5). The object might have been "
            "modified");
}

}  // namespace
}  // namespace holdfast::agent::lab
