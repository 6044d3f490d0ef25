// The tables agree with each other: every resource has a type, columns, cells and an entry in
// discovery. The most important cells have the right values.

#include "sync/apiserver/tables.h"

#include <boost/json.hpp>
#include <set>

#include "sync/apiserver/cells.h"
#include "sync/apiserver/convert.h"
#include "sync/apiserver/discovery.h"
#include "sync/apiserver/openapi.h"
#include "sync/apiserver/openapi_schema.h"
#include "sync/apiserver/openapi_v2.h"
#include "sync/schema/read.h"
#include "sync/schema/typed.h"

namespace holdfast::sync {
namespace {

namespace json = boost::json;

WallTime shown_at() { return parse_rfc3339("2026-11-21T01:23:14Z").value(); }

TEST(Resources, HaveATypeAndColumnsThatFitTheirCells) {
  for (const Resource& resource : all_resources()) {
    SCOPED_TRACE(resource.qualified());
    for (const ServedVersion& version : resource.versions) {
      const auto shaped = shape(type_of(resource, version), json::object());
      ASSERT_TRUE(shaped);
      EXPECT_TRUE(shaped->object.contains("metadata"));
    }
    if (!allows(resource.verbs, "list") || resource.group == "events.k8s.io") continue;
    const auto empty = shape(stored_type(resource), json::object());
    EXPECT_EQ(cells_of(resource, empty->object, shown_at()).size(), columns_of(resource).size());
  }
}

TEST(Resources, AreInDiscoveryAndOpenapi) {
  for (const Resource& resource : all_resources()) {
    for (const ServedVersion& version : resource.versions) {
      SCOPED_TRACE(resource.qualified() + " " + std::string(version.name));
      EXPECT_TRUE(resource_list(resource.group, version.name));
      const auto document = openapi_document(resource.group, version.name);
      ASSERT_TRUE(document);
      const json::object& schemas = dig_object(*document, {"components", "schemas"});
      const StructType& type = type_of(resource, version);
      EXPECT_TRUE(schemas.contains(definition_name(type.name)));
    }
  }
  EXPECT_FALSE(resource_list("apps", "v2"));
  EXPECT_FALSE(group_document("no.such"));
  EXPECT_FALSE(openapi_document("apps", "v2"));
}

// Collects the targets of all "$ref" in a value, at any depth.
void collect_references(const json::value& value, std::set<std::string>& found) {
  if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) collect_references(item, found);
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& pair : *object) {
      if (pair.key() == "$ref") found.emplace(as_text(pair.value()));
      collect_references(pair.value(), found);
    }
  }
}

TEST(Openapi, OfVersionTwoIsWhole) {
  std::set<std::string> references;
  const json::object& document = openapi_v2_document();
  collect_references(json::value(document), references);
  const json::object& definitions = dig_object(document, {"definitions"});
  for (const std::string& reference : references) {
    EXPECT_TRUE(definitions.contains(reference.substr(reference.rfind('/') + 1))) << reference;
  }
  const json::array& tags = definitions.at("io.k8s.api.PodDisruptionBudget")
                                .at("x-kubernetes-group-version-kind")
                                .as_array();
  EXPECT_EQ(json::serialize(tags),
            R"([{"group":"policy","version":"v1","kind":"PodDisruptionBudget"},)"
            R"({"group":"policy","version":"v1beta1","kind":"PodDisruptionBudget"}])");
}

TEST(Openapi, RefersToNothingThatIsMissing) {
  for (const std::string_view group : all_groups()) {
    for (const std::string_view version : versions_of(group)) {
      const auto document = openapi_document(group, version);
      std::set<std::string> references;
      collect_references(json::value(*document), references);
      const json::object& schemas = dig_object(*document, {"components", "schemas"});
      for (const std::string& reference : references) {
        EXPECT_TRUE(schemas.contains(reference.substr(reference.rfind('/') + 1))) << reference;
      }
    }
  }
}

TEST(Schema, HasEachNumberOnce) {
  for (const StructType& type : all_types()) {
    std::set<std::pair<int, int>> numbers;
    for (const Field& field : type.fields) {
      if (field.number == 0) continue;
      EXPECT_TRUE(numbers.emplace(field.inside, field.number).second)
          << type.name << "." << field.name;
    }
  }
}

struct TableCase {
  std::string name;
  std::string group;
  std::string kind;
  std::string given;
  std::string cells;
};

class CellsCases : public testing::TestWithParam<TableCase> {};

TEST_P(CellsCases, SayWhatKubectlPrints) {
  const TableCase& c = GetParam();
  const Resource* resource = find_kind(c.group, c.kind);
  ASSERT_NE(resource, nullptr);
  const json::array cells = cells_of(*resource, json::parse(c.given).as_object(), shown_at());
  EXPECT_EQ(json::serialize(cells), c.cells);
}

const TableCase table_cases[] = {
    {"waiting_pod", "", "Pod",
     R"({"metadata":{"name":"p","creationTimestamp":"2026-11-21T01:20:14Z"},)"
     R"("spec":{"containers":[{},{}]},"status":{"phase":"Pending","containerStatuses":[)"
     R"({"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}},)"
     R"({"ready":true,"restartCount":1,"state":{"running":{}}}]}})",
     R"(["p","1/2","CrashLoopBackOff","4","3m","<none>","<none>","<none>","<none>"])"},
    {"pod_with_init_containers", "", "Pod",
     R"({"metadata":{"name":"p"},"spec":{"containers":[{}],"initContainers":[{},{}]},)"
     R"("status":{"phase":"Pending","initContainerStatuses":[)"
     R"({"state":{"terminated":{"exitCode":0}}},{"state":{"running":{}}}]}})",
     R"(["p","0/1","Init:1/2","0","<unknown>","<none>","<none>","<none>","<none>"])"},
    {"killed_pod", "", "Pod",
     R"({"metadata":{"name":"p"},"spec":{"containers":[{}],"nodeName":"n"},)"
     R"("status":{"phase":"Failed","podIPs":[{"ip":"10.0.0.9"}],"containerStatuses":[)"
     R"({"state":{"terminated":{"exitCode":137,"signal":9}}}]}})",
     R"(["p","0/1","Signal:9","0","<unknown>","10.0.0.9","n","<none>","<none>"])"},
    {"completed_but_running_pod", "", "Pod",
     R"({"metadata":{"name":"p"},"spec":{"containers":[{},{}],"readinessGates":)"
     R"([{"conditionType":"x"}]},"status":{"phase":"Running","conditions":)"
     R"([{"type":"Ready","status":"True"}],"containerStatuses":[)"
     R"({"state":{"terminated":{"reason":"Completed"}}},)"
     R"({"ready":true,"state":{"running":{}}}]}})",
     R"(["p","1/2","Running","0","<unknown>","<none>","<none>","<none>","0/1"])"},
    {"lost_pod", "", "Pod",
     R"({"metadata":{"name":"p","deletionTimestamp":"2026-11-21T01:23:14Z"},)"
     R"("spec":{"containers":[{}]},"status":{"phase":"Running","reason":"NodeLost"}})",
     R"(["p","0/1","Unknown","0","<unknown>","<none>","<none>","<none>","<none>"])"},
    {"cordoned_node", "", "Node",
     R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/edge":""}},)"
     R"("spec":{"unschedulable":true},"status":{"conditions":[)"
     R"({"type":"Ready","status":"Unknown"}]}})",
     R"(["n","NotReady,SchedulingDisabled","edge","<unknown>","","<none>","<none>",)"
     R"("<unknown>","<unknown>","<unknown>"])"},
    {"event_series", "", "Event",
     R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Node","name":"n"},"reason":"R",)"
     R"("message":" m\n","type":"Warning","eventTime":"2026-11-21T01:23:04.000000Z",)"
     R"("series":{"count":5,"lastObservedTime":"2026-11-21T01:23:13.000000Z"},)"
     R"("reportingComponent":"k","reportingInstance":"i"})",
     R"(["1s","Warning","R","node/n","","k, i","m","10s",5,"e"])"},
    {"service", "", "Service",
     R"({"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1",)"
     R"("ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],)"
     R"("selector":{"a":"1","b":"2"}}})",
     R"(["s","LoadBalancer","10.0.0.1","<pending>","80:30080/TCP,53/UDP","<unknown>",)"
     R"("a=1,b=2"])"},
    {"daemon_set", "apps", "DaemonSet",
     R"({"metadata":{"name":"d"},"spec":{"selector":{"matchExpressions":[{"key":"a",)"
     R"("operator":"In","values":["y","x"]},{"key":"b","operator":"DoesNotExist"}]},)"
     R"("template":{"spec":{"containers":[{"name":"c","image":"x"}]}}},)"
     R"("status":{"desiredNumberScheduled":3,"currentNumberScheduled":2,"numberReady":1}})",
     R"(["d",3,2,1,0,0,"<none>","<unknown>","c","x","a in (x,y),!b"])"},
    {"endpoints", "", "Endpoints",
     R"({"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"1.1.1.2"}],)"
     R"("ports":[{"port":80},{"port":81}]}]})",
     R"(["e","1.1.1.1:80,1.1.1.2:80,1.1.1.1:81 + 1 more...","<unknown>"])"},
    {"budget", "policy", "PodDisruptionBudget",
     R"({"metadata":{"name":"b"},"spec":{"maxUnavailable":"50%"},)"
     R"("status":{"disruptionsAllowed":2}})",
     R"(["b","N/A","50%",2,"<unknown>"])"},
};

INSTANTIATE_TEST_SUITE_P(, CellsCases, testing::ValuesIn(table_cases),
                         [](const auto& c) { return c.param.name; });

TEST(Convert, EventsAreTheSameInBothGroups) {
  const Resource* events = find_resource("events.k8s.io", "v1", "events");
  const Resource* core = find_resource("", "v1", "events");
  EXPECT_EQ(&stored_resource(*events), core);
  const auto served =
      shape(known_type("EventsEvent"),
            json::parse(R"({"metadata":{"name":"e"},"note":"n","deprecatedCount":2,)"
                        R"("regarding":{"kind":"Pod"},"reportingController":"c"})"),
            "Event", "events.k8s.io/v1");
  const ServedVersion& v1 = events->versions.front();
  const json::object stored = to_stored(*events, v1, served->object);
  EXPECT_EQ(dig_text(stored, {"message"}), "n");
  EXPECT_EQ(dig_int(stored, {"count"}), 2);
  EXPECT_EQ(dig_text(stored, {"involvedObject", "kind"}), "Pod");
  EXPECT_EQ(dig_text(stored, {"apiVersion"}), "v1");
  EXPECT_EQ(from_stored(*events, v1, stored), served->object);
}

TEST(Convert, SlicesRenameTheirTopology) {
  const Resource* slices = find_resource("discovery.k8s.io", "v1beta1", "endpointslices");
  const ServedVersion* beta = slices->version("v1beta1");
  const auto served =
      shape(known_type("EndpointSliceV1beta1"),
            json::parse(R"({"addressType":"IPv4","endpoints":[{"addresses":["1.1.1.1"],)"
                        R"("topology":{"zone":"a"}}]})"),
            "EndpointSlice", "discovery.k8s.io/v1beta1");
  const json::object stored = to_stored(*slices, *beta, served->object);
  EXPECT_EQ(json::serialize(stored.at("endpoints").at_pointer("/0/deprecatedTopology")),
            R"({"zone":"a"})");
  EXPECT_EQ(from_stored(*slices, *beta, stored), served->object);
}

}  // namespace
}  // namespace holdfast::sync
