#include "sync/autonomy/local_write.h"

#include "sync/wire/json.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr objects::Version version = objects::first_local_version + 7;
const std::string version_text = std::to_string(version);
const std::string pod_path = "/api/v1/namespaces/ns/pods/p";
const std::string uuid = "01234567-89ab-4cde-8f01-23456789abcd";

const std::string pod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u1",)"
    R"("resourceVersion":"41","labels":{"l":"1"}},"spec":{"nodeName":"edge-a"},)"
    R"("status":{"phase":"Pending","conditions":[{"type":"Ready","status":"False",)"
    R"("lastProbeTime":"t1"}]}})";

const std::string node =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge-a","uid":"n1",)"
    R"("resourceVersion":"40"},"spec":{},"status":{"conditions":[{"type":"Ready",)"
    R"("status":"True","lastHeartbeatTime":"t1"}]}})";

struct Ask {
  std::string method;
  std::string target;
  std::string body;
  std::string content_type = "application/json";
  std::optional<std::string> current = {};
  std::string grace = {};
  bool queued = false;
};

LocalOutcome apply(const Ask& ask) {
  const objects::RequestInfo info = objects::parse_request(ask.method, ask.target, "").value();
  LocalWrite write{.admission = admit(info, "edge-a"),
                   .request = info,
                   .content_type = ask.content_type,
                   .body = ask.body,
                   .queued = ask.queued,
                   .grace_period_seconds = ask.grace,
                   .node_name = "edge-a",
                   .version = version,
                   .now = WallTime(std::chrono::seconds(1'700'000'000)),
                   .new_uid = "new-uid"};
  if (ask.current) write.current = *ask.current;
  return apply_local_write(write);
}

// Makes a merge patch of a status.
Ask patch(const std::string& target, const std::string& body, const std::string& current) {
  return {"PATCH", target, body, "application/merge-patch+json", current};
}

void expect_refused(const Ask& ask, int code, std::string_view part) {
  const LocalOutcome outcome = apply(ask);
  EXPECT_FALSE(outcome.accepted) << ask.method << " " << ask.target << " " << ask.body;
  EXPECT_EQ(outcome.refusal.code, code) << outcome.refusal.message;
  EXPECT_NE(outcome.refusal.message.find(part), std::string::npos) << outcome.refusal.message;
  EXPECT_FALSE(outcome.queued);
  EXPECT_EQ(outcome.change, LocalOutcome::Change::none);
}

TEST(LocalWrite, APodStatusIsAppliedEchoedAndQueuedWhole) {
  const auto outcome = apply(patch(pod_path + "/status",
                                   R"({"metadata":{"uid":"u1","labels":{"l":"2"}},)"
                                   R"("spec":{"x":1},"status":{"phase":"Running"}})",
                                   pod));
  const std::string status = R"("status":{"phase":"Running","conditions":[{"type":"Ready",)"
                             R"("status":"False","lastProbeTime":"t1"}]}})";
  EXPECT_TRUE(outcome.accepted);
  EXPECT_EQ(outcome.status, 200);
  EXPECT_EQ(outcome.change, LocalOutcome::Change::put);
  EXPECT_EQ(outcome.name, "p");
  EXPECT_EQ(outcome.uid, "u1");
  EXPECT_FALSE(outcome.only_heartbeat);
  EXPECT_EQ(outcome.object,
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns",)"
            R"("uid":"u1","resourceVersion":")" +
                version_text + R"(","labels":{"l":"1"}},"spec":{"nodeName":"edge-a"},)" + status);
  EXPECT_EQ(outcome.answer, outcome.object);
  const QueuedWrite queued{.verb = "PATCH",
                           .target = pod_path + "/status",
                           .content_type = "application/strategic-merge-patch+json",
                           .body = R"({"metadata":{"uid":"u1"},)" + status,
                           .uid = "u1",
                           .replaces_older = true};
  EXPECT_EQ(outcome.queued, queued);
}

TEST(LocalWrite, AHeartbeatIsShownButNotQueued) {
  const auto outcome = apply(patch("/api/v1/nodes/edge-a/status",
                                   R"({"status":{"conditions":[{"type":"Ready","status":"True",)"
                                   R"("lastHeartbeatTime":"t2"}]}})",
                                   node));
  EXPECT_TRUE(outcome.accepted);
  EXPECT_TRUE(outcome.only_heartbeat);
  EXPECT_FALSE(outcome.queued);
  EXPECT_EQ(outcome.change, LocalOutcome::Change::put);
  EXPECT_NE(outcome.object.find(R"("lastHeartbeatTime":"t2")"), std::string::npos);
}

TEST(LocalWrite, StatusesThatAreRefused) {
  const std::string status = pod_path + "/status";
  std::string elsewhere = pod;
  elsewhere.replace(elsewhere.find("edge-a"), 6, "edge-b");
  expect_refused({"PATCH", status, "{}", "application/merge-patch+json"}, 503, "not known here");
  expect_refused(patch(status, R"({"metadata":{"uid":"u2"}})", pod), 409, "UID in precondition");
  expect_refused(patch(status, R"({"metadata":{"resourceVersion":"40"}})", pod), 409,
                 "has been modified");
  expect_refused(patch(status, R"({"status":{"phase":"Running"}})", elsewhere), 503,
                 "not on this node");
  expect_refused(patch(status, "{", pod), 400, "");
  expect_refused(patch(status, "{}", "broken"), 503, "broken");
  expect_refused({"PATCH", status, "{}", "text/plain", pod}, 415, "");
  expect_refused({"PUT", status, "[]", "application/json", pod}, 400, "not a JSON object");
  std::string stale = pod;
  stale.replace(stale.find(R"("41")"), 4, R"("40")");
  expect_refused({"PUT", status, stale, "application/json", pod}, 409, "has been modified");
}

TEST(LocalWrite, AnUpdateTakesTheStatusOnly) {
  std::string wanted = pod;
  wanted.replace(wanted.find("Pending"), 7, "Failed!");
  wanted.replace(wanted.find(R"({"l":"1"})"), 9, R"({"l":"9"})");
  const auto outcome = apply({"PUT", pod_path + "/status", wanted, "application/json", pod});
  EXPECT_TRUE(outcome.accepted) << outcome.refusal.message;
  EXPECT_NE(outcome.object.find("Failed!"), std::string::npos);
  EXPECT_NE(outcome.object.find(R"("labels":{"l":"1"})"), std::string::npos);
}

TEST(LocalWrite, APodThatARebootEndsIsKept) {
  const std::string end = R"({"status":{"phase":"Failed","reason":"Terminated"}})";
  const LocalOutcome kept = apply(patch(pod_path + "/status", end, pod));
  EXPECT_TRUE(kept.accepted && kept.kept_pod);
  EXPECT_EQ(kept.change, LocalOutcome::Change::none);
  EXPECT_FALSE(kept.queued);
  EXPECT_EQ(kept.uid, "u1");
  EXPECT_NE(kept.answer.find(R"("phase":"Failed")"), std::string::npos);
  EXPECT_NE(kept.answer.find(R"("resourceVersion":"41")"), std::string::npos)
      << "still the cache's";
  const auto changed = [](std::string from, std::string_view what, std::string_view by) {
    return from.replace(from.find(what), what.size(), by);
  };
  const std::string others[] = {
      changed(pod, R"("uid":"u1")", R"("uid":"u1","deletionTimestamp":"2026-01-01T00:00:00Z")"),
      changed(pod, "Pending", "Succeeded")};
  for (const std::string& current : others) {
    const LocalOutcome outcome = apply(patch(pod_path + "/status", end, current));
    EXPECT_FALSE(outcome.kept_pod) << current;
    EXPECT_EQ(outcome.change, LocalOutcome::Change::put) << current;
    EXPECT_TRUE(outcome.queued) << current;
  }
}

// After a restart the cached pod may be older than the queued status. Then lists are replaced, not
// merged.
TEST(LocalWrite, WhatWasQueuedIsAppliedWhole) {
  const std::string before =
      R"({"kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u1","resourceVersion":"41"},)"
      R"("spec":{"nodeName":"edge-a"},"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],)"
      R"("nominatedNodeName":"n","reason":"r","conditions":[{"type":"gate","status":"True"}]}})";
  Ask ask{"PATCH", pod_path + "/status",
          R"({"metadata":{"uid":"u1"},"status":{"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.2"}]}})",
          "application/strategic-merge-patch+json", before};
  ask.queued = true;
  const LocalOutcome outcome = apply(ask);
  ASSERT_TRUE(outcome.accepted);
  EXPECT_EQ(wire::serialize(wire::parse_json(outcome.object)->at("status")),
            R"({"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.2"}],"nominatedNodeName":"n",)"
            R"("conditions":[{"type":"gate","status":"True"}]})");
}

TEST(LocalWrite, RegistrationIsAnsweredAsIfItWasKnown) {
  const std::string body = R"({"metadata":{"name":"edge-a"}})";
  const LocalOutcome known = apply({"POST", "/api/v1/nodes", body, "application/json", node});
  EXPECT_FALSE(known.accepted);
  EXPECT_EQ(known.refusal.code, 409);
  EXPECT_EQ(known.refusal.message, R"(nodes "edge-a" already exists)");
  EXPECT_EQ(known.change, LocalOutcome::Change::none);
  EXPECT_EQ(known.queued, (QueuedWrite{.verb = "POST",
                                       .target = "/api/v1/nodes",
                                       .content_type = "application/json",
                                       .body = body,
                                       .replaces_older = true}));
  expect_refused({"POST", "/api/v1/nodes", body}, 503, "never registered");
  expect_refused({"POST", "/api/v1/nodes", R"({"metadata":{"name":"edge-b"}})"}, 503,
                 "not this agent's node");
  expect_refused({"POST", "/api/v1/nodes", "{"}, 503, "not this agent's node");
}

TEST(LocalWrite, TheEndOfAPodIsRememberedWithItsUid) {
  const std::string graceless = R"({"gracePeriodSeconds":0,"preconditions":{"uid":"u1"}})";
  const Ask asks[] = {{"DELETE", pod_path, graceless, "application/json", pod},
                      {"DELETE", pod_path, R"({"gracePeriodSeconds":0})", "application/json", pod},
                      {"DELETE", pod_path, "", "", pod, "0"}};
  const QueuedWrite queued{
      .verb = "DELETE",
      .target = pod_path,
      .content_type = "application/json",
      .body = R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
              R"("preconditions":{"uid":"u1"}})",
      .uid = "u1"};
  for (const Ask& ask : asks) {
    const auto outcome = apply(ask);
    EXPECT_TRUE(outcome.accepted) << outcome.refusal.message;
    EXPECT_EQ(outcome.change, LocalOutcome::Change::remove);
    EXPECT_EQ(outcome.queued, queued);
    EXPECT_EQ(outcome.answer, wire::status::deleted({"", "pods"}, "p", "u1").body());
  }
}

TEST(LocalWrite, OtherDeletesNeedTheCloud) {
  std::string elsewhere = pod;
  elsewhere.replace(elsewhere.find("edge-a"), 6, "edge-b");
  const std::string type = "application/json";
  const std::string zero = R"({"gracePeriodSeconds":0})";
  expect_refused({"DELETE", pod_path, zero, type}, 503, "not known here");
  expect_refused({"DELETE", pod_path, zero, type, elsewhere}, 503, "not on this node");
  expect_refused({"DELETE", pod_path, "", type, pod}, 503, "only the deletion of a stopped pod");
  expect_refused({"DELETE", pod_path, R"({"gracePeriodSeconds":30})", type, pod}, 503, "only");
  expect_refused({"DELETE", pod_path, R"({"gracePeriodSeconds":"0"})", type, pod}, 503, "only");
  expect_refused({"DELETE", pod_path, "", type, pod, "30"}, 503,
                 "only the deletion of a stopped pod");
  expect_refused({"DELETE", pod_path, "[]", type, pod}, 503, "only the deletion of a stopped pod");
  expect_refused({"DELETE", pod_path, "{", type, pod}, 400, "");
  expect_refused(
      {"DELETE", pod_path, R"({"gracePeriodSeconds":0,"preconditions":{"uid":"u2"}})", type, pod},
      409, "UID in precondition: u2");
}

TEST(LocalWrite, OnlyTheApiServerCanTryAWrite) {
  struct Case {
    std::string method;
    std::string query;
    std::string body;
    bool dry_run;
  };
  const std::string zero = R"({"gracePeriodSeconds":0})";
  const Case cases[] = {
      {"DELETE", "dryRun=All", zero, true},
      {"DELETE", "dryRun=None", zero, true},
      {"DELETE", "dryRun=", zero, false},
      {"DELETE", "", R"({"gracePeriodSeconds":0,"dryRun":["All"]})", true},
      {"DELETE", "", R"({"gracePeriodSeconds":0,"dryRun":[]})", false},
      {"DELETE", "", R"({"gracePeriodSeconds":0,"dryRun":null})", false},
      {"DELETE", "", zero, false},
      {"DELETE", "", "{", false},
      {"PATCH", "dryRun=All", "{}", true},
      {"PATCH", "", R"({"dryRun":["All"]})", false},
      {"POST", "dryRun=All&fieldManager=x", "{}", true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.method + " ?" + each.query + " " + each.body);
    const objects::RequestInfo info =
        objects::parse_request(each.method, pod_path, each.query).value();
    EXPECT_EQ(is_dry_run(info, each.body), each.dry_run);
    if (!each.dry_run) continue;
    const LocalOutcome outcome = apply_local_write({.admission = Admission::final_delete,
                                                    .request = info,
                                                    .content_type = "application/json",
                                                    .body = each.body,
                                                    .node_name = "edge-a",
                                                    .current = pod});
    EXPECT_FALSE(outcome.accepted);
    EXPECT_EQ(outcome.refusal.code, 503);
    EXPECT_EQ(outcome.change, LocalOutcome::Change::none);
  }
}

TEST(LocalWrite, AMirrorPodIsMadeHere) {
  const std::string body =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"m","annotations":)"
      R"({"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"edge-a"}})";
  const std::string path = "/api/v1/namespaces/ns/pods";
  const auto outcome = apply({"POST", path, body});
  EXPECT_TRUE(outcome.accepted) << outcome.refusal.message;
  EXPECT_EQ(outcome.status, 201);
  EXPECT_EQ(outcome.change, LocalOutcome::Change::put);
  EXPECT_EQ(outcome.name, "m");
  EXPECT_EQ(outcome.uid, "new-uid");
  const QueuedWrite queued{
      .verb = "POST", .target = path, .content_type = "application/json", .body = body};
  EXPECT_EQ(outcome.queued, queued);
  const json::value made = wire::parse_json(outcome.object).value();
  const json::object expected{{"name", "m"},
                              {"annotations", json::object{{"kubernetes.io/config.mirror", "x"}}},
                              {"uid", "new-uid"},
                              {"resourceVersion", version_text},
                              {"creationTimestamp", "2023-11-14T22:13:20Z"},
                              {"namespace", "ns"}};
  EXPECT_EQ(made.as_object().at("metadata"), json::value(expected));

  expect_refused({"POST", path, body, "application/json", pod}, 409, "already exists");
  expect_refused({"POST", path, "{}"}, 503, "only mirrors");
  std::string other = body;
  other.replace(other.find("edge-a"), 6, "edge-b");
  expect_refused({"POST", path, other}, 503, "only mirrors");
  expect_refused({"POST", path, "[]"}, 400, "not a Pod");
}

TEST(LocalWrite, WhatWasMadeHereIsQueuedWithoutAUid) {
  const std::string uid = local_uid(uuid);
  EXPECT_TRUE(is_local_uid(uid)) << uid;
  EXPECT_EQ(uid.size(), uuid.size());
  EXPECT_FALSE(is_local_uid(uuid));
  EXPECT_FALSE(is_local_uid(""));
  std::string mirror = pod;
  mirror.replace(mirror.find("u1"), 2, uid);
  const auto patched =
      apply(patch(pod_path + "/status", R"({"status":{"phase":"Running"}})", mirror));
  ASSERT_TRUE(patched.queued);
  EXPECT_EQ(patched.queued->uid, "");
  EXPECT_EQ(patched.queued->body.find("uid"), std::string::npos) << patched.queued->body;
  const auto removed = apply({"DELETE", pod_path, "", "", mirror, "0"});
  ASSERT_TRUE(removed.queued);
  EXPECT_EQ(removed.queued->uid, "");
  EXPECT_EQ(removed.queued->body.find("preconditions"), std::string::npos);
}

TEST(LocalWrite, EventsAreQueuedAsTheyCameButForLocalVersions) {
  const std::string path = "/api/v1/namespaces/ns/events";
  const std::string plain =
      R"({"metadata":{"name":"e"},"involvedObject":{"name":"p","resourceVersion":"41"}})";
  const auto outcome = apply({"POST", path, plain});
  EXPECT_TRUE(outcome.accepted);
  EXPECT_EQ(outcome.status, 201);
  EXPECT_EQ(outcome.change, LocalOutcome::Change::none);
  QueuedWrite queued{.verb = "POST",
                     .target = path,
                     .content_type = "application/json",
                     .body = plain,
                     .may_be_dropped = true};
  EXPECT_EQ(outcome.queued, queued);
  const auto local = apply({"POST", path,
                            R"({"metadata":{"name":"e"},"involvedObject":{"name":"p",)"
                            R"("resourceVersion":")" +
                                version_text + R"("}})"});
  queued.body = R"({"metadata":{"name":"e"},"involvedObject":{"name":"p"}})";
  EXPECT_EQ(local.queued, queued);
  expect_refused({"PATCH", path + "/e", "{}"}, 404, R"(events "e" not found)");
  expect_refused({"POST", path, "7"}, 400, "not an Event");
}

TEST(LocalWrite, EverythingElseNeedsTheCloudAndSaysSo) {
  expect_refused({"POST", "/api/v1/namespaces/ns/configmaps", "{}"}, 503,
                 "create of configmaps needs the cloud: only the API server can decide it");
  expect_refused({"DELETE", "/apis/apps/v1/namespaces/ns/deployments/d", ""}, 503,
                 "delete of deployments.apps needs the cloud");
  expect_refused({"POST", "/api/v1/namespaces/ns/serviceaccounts/s/token", "{}"}, 503,
                 "no token is stored for this request");
  const auto refusal = apply({"POST", "/api/v1/namespaces/ns/secrets", "{}"}).refusal;
  EXPECT_FALSE(refusal.details) << "a client that gets a retry time blocks until then";
}

TEST(LocalWrite, LocalVersionsAreRecognisedInBodies) {
  const std::string quoted = "\"" + version_text + "\"";
  const std::pair<std::string, bool> cases[] = {
      {R"({"metadata":{"resourceVersion":)" + quoted + "}}", true},
      {R"({"metadata":{"resourceVersion":"41"}})", false},
      {R"({"preconditions":{"resourceVersion":)" + quoted + "}}", true},
      {R"([{"op":"test","path":"/metadata/resourceVersion","value":)" + quoted + "}]", true},
      {R"([{"op":"add","path":"/status/x","value":1}])", false},
      {R"({"status":{"text":)" + quoted + "}}", false},
      {"", false},
      {"k8s\0", false},
      {"{", false},
  };
  for (const auto& [body, carries] : cases) EXPECT_EQ(carries_local_version(body), carries) << body;
}

TEST(LocalWrite, AQueuedTargetIsEncodedAgain) {
  const auto outcome = apply({"POST", "/api/v1/namespaces/n%20s%0D%0A/events",
                              R"({"kind":"Event","apiVersion":"v1",)"
                              R"("metadata":{"name":"e"},"involvedObject":{}})"});
  ASSERT_TRUE(outcome.queued);
  EXPECT_EQ(outcome.queued->target, "/api/v1/namespaces/n%20s%0D%0A/events");
}

}  // namespace
}  // namespace holdfast::sync::autonomy
