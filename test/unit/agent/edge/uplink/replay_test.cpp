// Writes made during an outage reach the cloud: statuses as patches of the cloud's current object,
// each write handled according to its own answer, many in parallel.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::replayed {
namespace {

namespace json = sync::json;
using sync::autonomy::LinkState;

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* our_pods =
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0";
constexpr const char* strategic = "application/strategic-merge-patch+json";

const std::string status_before =
    R"({"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"conditions":[)"
    R"({"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","restartCount":0}]})";

void put_pod(UplinkFixture& fixture, const std::string& name, const std::string& status) {
  fixture.cloud.put(pods, name, R"({"spec":{"nodeName":"edge1"},"status":)" + status + "}");
}

// Waits until the agent is connected and has cached the node's pods; then cuts the link.
void cut_off(UplinkFixture& fixture) {
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(our_pods).status, 200);
  fixture.time.run(1s);
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
}

int patch_status(UplinkFixture& fixture, const std::string& name, const std::string& status) {
  http::Request request{.method = http::Method::patch,
                        .target = std::string(pods) + "/" + name + "/status"};
  request.headers.add("User-Agent", "kubelet/v1");
  request.headers.add("Content-Type", strategic);
  request.body = R"({"metadata":{"uid":"uid-)" + name + R"("},"status":)" + status + "}";
  return fixture.ask(request).status;
}

int post_event(UplinkFixture& fixture, const std::string& space, const std::string& name) {
  http::Request event{.method = http::Method::post,
                      .target = "/api/v1/namespaces/" + space + "/events"};
  event.headers.add("User-Agent", "kubelet/v1");
  event.body = R"({"metadata":{"name":")" + name + R"(","namespace":")" + space + R"("}})";
  return fixture.ask(event).status;
}

json::value status_in_cloud(UplinkFixture& fixture, const std::string& name) {
  return sync::wire::parse_json(fixture.cloud.object(pods, name)).value().at("status");
}

// The results of the writes, from the journal: "applied pods/a/one".
std::vector<std::string> ends(UplinkFixture& fixture) {
  std::vector<std::string> all;
  const auto rows = sync::wire::parse_json(fixture.admin("/v1/journal?limit=10000")).value();
  for (const auto& row : rows.as_array()) {
    const std::string kind(row.at("kind").as_string());
    if (!kind.starts_with("write-") || kind == "write-accepted") continue;
    all.push_back(kind.substr(6) + " " + std::string(row.at("subject").as_string()));
  }
  std::sort(all.begin(), all.end());
  return all;
}

http::Response refusal(int status, const std::string& body = "{}") {
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body};
}

bool is_write_of(const http::Request& request, std::string_view part) {
  return request.method != http::Method::get &&
         (request.path().find(part) != std::string_view::npos ||
          request.body.find(part) != std::string::npos);
}

TEST(ReplayedStatus, APodsNewAddressesReplaceTheOld) {
  UplinkFixture fixture;
  put_pod(fixture, "one", status_before);
  cut_off(fixture);
  // The patch that a kubelet sends after a reboot.
  ASSERT_EQ(patch_status(fixture, "one",
                         R"({"podIP":"10.0.0.9","$setElementOrder/podIPs":[{"ip":"10.0.0.9"}],)"
                         R"("podIPs":[{"ip":"10.0.0.9"},{"$patch":"delete","ip":"10.0.0.1"}],)"
                         R"("containerStatuses":[{"name":"c","restartCount":1}]})"),
            200);
  // Meanwhile the cloud changes the pod.
  put_pod(
      fixture, "one",
      R"({"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"conditions":[)"
      R"({"type":"gate","status":"True"},{"type":"Ready","status":"False"}],"unknown":{"a":1}})");
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  EXPECT_EQ(status_in_cloud(fixture, "one"),
            sync::wire::parse_json(
                R"({"phase":"Running","podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}],)"
                R"("conditions":[{"type":"gate","status":"True"},{"type":"Ready",)"
                R"("status":"True"}],"unknown":{"a":1},)"
                R"("containerStatuses":[{"name":"c","restartCount":1}]})")
                .value())
      << sync::wire::serialize(status_in_cloud(fixture, "one"));
  EXPECT_EQ(ends(fixture), std::vector<std::string>{"applied pods/a/one"});
}

TEST(ReplayedStatus, NothingIsSentThatTheCloudHas) {
  UplinkFixture fixture;
  put_pod(fixture, "one", status_before);
  put_pod(fixture, "two", status_before);
  put_pod(fixture, "three", status_before);
  cut_off(fixture);
  for (const char* name : {"one", "two", "three"}) {
    ASSERT_EQ(patch_status(fixture, name, R"({"phase":"Failed"})"), 200);
  }
  put_pod(fixture, "one", std::string(R"({"phase":"Failed",)") + status_before.substr(19));
  fixture.cloud.remove(pods, "two");
  fixture.cloud.put(pods, "three", R"({"spec":{"nodeName":"edge2"}})");
  const std::size_t from = fixture.cloud.asked.size();
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  EXPECT_EQ(fixture.cloud.count("PATCH /api/v1/namespaces/a/pods", from), 0);
  EXPECT_EQ(ends(fixture), (std::vector<std::string>{"applied pods/a/one", "conflict pods/a/three",
                                                     "conflict pods/a/two"}));
}

TEST(ReplayOfWrites, ARefusedWriteHoldsUpNeitherTheLinkNorOthers) {
  struct Row {
    std::string name;
    http::Response refusal;
    int refusals;  // how many times
    std::string end;
  };
  const std::string terminating =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","details":)"
      R"({"causes":[{"reason":"NamespaceTerminating"}]},"code":403})";
  const Row rows[] = {
      {"a namespace that ends", refusal(403, terminating), 1000, "rejected events/a/bad"},
      {"forbidden for a while", refusal(403), 3, "applied events/a/bad"},
      {"forbidden for good", refusal(403), 1000, "rejected events/a/bad"},
      {"a webhook that is away for a while", refusal(500), 3, "applied events/a/bad"},
      {"never", refusal(500), 1000, "rejected events/a/bad"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    UplinkFixture fixture;
    put_pod(fixture, "one", status_before);
    cut_off(fixture);
    ASSERT_EQ(post_event(fixture, "a", "bad"), 201);
    ASSERT_EQ(patch_status(fixture, "one", R"({"phase":"Failed"})"), 200);
    ASSERT_EQ(post_event(fixture, "a", "good"), 201);
    int asked = 0;
    fixture.servers[0]->special = [&row, &asked](const http::Request& request) {
      std::optional<http::Response> no;
      if (is_write_of(request, "\"bad\"") && ++asked <= row.refusals) no = row.refusal;
      return no;
    };
    fixture.servers[0]->restore();
    const auto took = fixture.until(LinkState::connected, 2min);
    ASSERT_TRUE(took) << fixture.reason();
    EXPECT_LT(*took, 40s) << "a refused write must not delay the rejoin";
    EXPECT_EQ(status_in_cloud(fixture, "one").at("phase"), "Failed");
    fixture.time.run(5min);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    std::vector<std::string> expected{row.end, "applied events/a/good", "applied pods/a/one"};
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(ends(fixture), expected);
    const bool terminal = row.refusal.body == terminating;
    EXPECT_LE(asked, terminal ? 1 : 8);
  }
}

TEST(ReplayOfWrites, TheOrderOfOneObjectIsKept) {
  UplinkFixture fixture;
  put_pod(fixture, "one", status_before);
  cut_off(fixture);
  ASSERT_EQ(patch_status(fixture, "one", R"({"phase":"Succeeded"})"), 200);
  http::Request end{.method = http::Method::remove, .target = std::string(pods) + "/one"};
  end.headers.add("User-Agent", "kubelet/v1");
  end.body = R"({"gracePeriodSeconds":0,"preconditions":{"uid":"uid-one"}})";
  ASSERT_EQ(fixture.ask(end).status, 200);
  int refusals = 3;
  fixture.servers[0]->special = [&refusals](const http::Request& request) {
    std::optional<http::Response> no;
    if (is_write_of(request, "/one/status") && refusals-- > 0) no = refusal(500);
    return no;
  };
  const std::size_t from = fixture.cloud.asked.size();
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(1min);
  std::vector<std::string> writes;
  for (std::size_t i = from; i < fixture.cloud.asked.size(); ++i) {
    const std::string& what = fixture.cloud.asked[i].what;
    if (what.find("/pods/one") != std::string::npos && !what.starts_with("GET")) {
      writes.push_back(what.substr(0, what.find(' ')));
    }
  }
  EXPECT_EQ(writes, (std::vector<std::string>{"PATCH", "PATCH", "PATCH", "PATCH", "DELETE"}));
}

TEST(ReplayOfWrites, ANewerStatusThatWentDirectlyIsNotOverwritten) {
  UplinkFixture fixture;
  put_pod(fixture, "one", status_before);
  cut_off(fixture);
  ASSERT_EQ(patch_status(fixture, "one", R"({"reason":"old"})"), 200);
  bool refuses = true;
  fixture.servers[0]->special = [&refuses](const http::Request& request) {
    std::optional<http::Response> no;
    if (refuses && is_write_of(request, "/one/status")) no = refusal(500);
    return no;
  };
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  refuses = false;
  ASSERT_EQ(patch_status(fixture, "one", R"({"reason":"new"})"), 200);
  fixture.time.run(5min);
  EXPECT_EQ(status_in_cloud(fixture, "one").at("reason"), "new");
  EXPECT_EQ(ends(fixture), std::vector<std::string>{"superseded pods/a/one"});
}

TEST(ReplayOfWrites, AnOverloadedServerGetsThePauseItAsksFor) {
  for (const int status : {429, 503}) {
    UplinkFixture fixture;
    put_pod(fixture, "one", status_before);
    cut_off(fixture);
    ASSERT_EQ(patch_status(fixture, "one", R"({"phase":"Failed"})"), 200);
    std::vector<MonoTime> asked;
    fixture.servers[0]->special = [&](const http::Request& request) {
      std::optional<http::Response> no;
      if (!is_write_of(request, "/one/status")) return no;
      asked.push_back(fixture.time.clock().mono());
      if (asked.size() > 1) return no;
      no = refusal(status);
      no->headers.set("Retry-After", "15");
      return no;
    };
    fixture.servers[0]->restore();
    ASSERT_TRUE(fixture.time.run_until(3min, [&asked] { return asked.size() > 1; })) << status;
    EXPECT_GE(asked[1] - asked[0], 15s) << status;
    ASSERT_TRUE(fixture.until(LinkState::connected));
    EXPECT_EQ(ends(fixture), std::vector<std::string>{"applied pods/a/one"});
  }
}

TEST(ReplayOfWrites, AThousandTakeFiveSeconds) {
  UplinkFixture fixture;
  constexpr int count = 1000;
  for (int i = 0; i < count; ++i) put_pod(fixture, "p" + std::to_string(i), status_before);
  cut_off(fixture);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(patch_status(fixture, "p" + std::to_string(i), R"({"phase":"Failed"})"), 200);
  }
  fixture.servers[0]->latency = 5ms;  // virtual time advances in steps of 20 ms
  const std::size_t from = fixture.cloud.asked.size();
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  MonoTime first = MonoTime::max();
  MonoTime last{};
  int sent = 0;
  for (std::size_t i = from; i < fixture.cloud.asked.size(); ++i) {
    const ReceivedRequest& asked = fixture.cloud.asked[i];
    const bool of_replay = asked.what.find("/namespaces/a/pods/p") != std::string::npos;
    if (!of_replay) continue;
    first = std::min(first, asked.at);
    last = std::max(last, asked.at);
    if (asked.what.starts_with("PATCH")) ++sent;
  }
  EXPECT_EQ(sent, count);
  EXPECT_LT(last - first, 5s);
  EXPECT_EQ(ends(fixture).size(), static_cast<std::size_t>(count));
}

TEST(ReplayOfWrites, TheDeletionOfACollectionIsNeverQueued) {
  UplinkFixture fixture;
  put_pod(fixture, "one", status_before);
  cut_off(fixture);
  for (const char* target :
       {pods, "/api/v1/namespaces/a/events", "/api/v1/nodes", "/api/v1/namespaces/a/configmaps",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
        "/apis/storage.k8s.io/v1/csinodes", "/apis/events.k8s.io/v1/namespaces/a/events"}) {
    http::Request request{.method = http::Method::remove, .target = target};
    request.headers.add("User-Agent", "kubelet/v1");
    request.body = R"({"gracePeriodSeconds":0})";
    EXPECT_EQ(fixture.ask(request).status, 503) << target;
    request.target += "?gracePeriodSeconds=0";
    EXPECT_EQ(fixture.ask(request).status, 503) << target;
  }
  const std::size_t from = fixture.cloud.asked.size();
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.cloud.count("DELETE", from), 0);
  EXPECT_EQ(ends(fixture), std::vector<std::string>{});
}

}  // namespace
}  // namespace holdfast::agent::uplink::replayed
