// The cells of a server's tables, and ages in the format for people.

#include "sync/printing/cells.h"

#include <boost/json.hpp>

#include "sync/printing/age.h"
#include "sync/printing/resources.h"
#include "sync/printing/tables.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

WallTime shown_at() { return parse_rfc3339("2026-11-21T01:23:14Z").value(); }

TEST(HumanDuration, HasTwoUnitsAtMost) {
  using namespace std::chrono_literals;
  const std::pair<Duration, std::string_view> cases[] = {
      {-2s, "<invalid>"}, {-1s, "0s"},         {0s, "0s"},          {119s, "119s"},
      {120s, "2m"},       {5min + 3s, "5m3s"}, {10min + 5s, "10m"}, {179min, "179m"},
      {3h, "3h"},         {7h + 5min, "7h5m"}, {8h + 5min, "8h"},   {47h, "47h"},
      {49h, "2d1h"},      {8 * 24h, "8d"},     {700 * 24h, "700d"}, {731 * 24h, "2y1d"},
      {3000 * 24h, "8y"},
  };
  for (const auto& [duration, text] : cases) EXPECT_EQ(human_duration(duration), text);
}

TEST(TimeSince, IsAtMostACentury) {
  using namespace std::chrono_literals;
  constexpr Duration century = 100 * 365 * 24h;
  const WallTime now = shown_at();
  EXPECT_EQ(time_since(now - 5s, now), 5s);
  EXPECT_EQ(time_since(now + 5s, now), -5s);
  EXPECT_EQ(time_since(parse_rfc3339("1678-01-01T00:00:00Z").value(), now), century);
  EXPECT_EQ(time_since(parse_rfc3339("2261-12-31T00:00:00Z").value(), now), -century);
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

}  // namespace
}  // namespace holdfast::sync::printing
