// A queued status becomes a patch of the API server's object that changes only what the node owns.

#include "sync/autonomy/owned_status.h"

#include <boost/json/object.hpp>

#include "sync/objects/patch/strategic_patch.h"

namespace holdfast::sync::autonomy {
namespace {

struct OwnedLine {
  std::string_view name;
  std::string_view resource;
  std::string_view theirs;  // the status, or a CSINode's spec
  std::string_view ours;
  std::string_view result;
};

std::string object_with(std::string_view resource, std::string_view part) {
  const bool csi = resource == "csinodes";
  std::string object = R"({"metadata":{"name":"x","uid":"u1"},)";
  if (!csi) object += R"("spec":{"nodeName":"edge1"},)";
  object += csi ? R"("spec":)" : R"("status":)";
  return object.append(part) + "}";
}

std::string queued_with(std::string_view resource, std::string_view part) {
  std::string body = R"({"metadata":{"uid":"u1"},)";
  body += resource == "csinodes" ? R"("spec":)" : R"("status":)";
  return body.append(part) + "}";
}

std::string_view kind_of(std::string_view resource) {
  if (resource == "pods") return "Pod";
  return resource == "nodes" ? "Node" : "CSINode";
}

const OwnedLine lines[] = {
    {"new addresses, a restarted container", "pods",
     R"({"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],)"
     R"("containerStatuses":[{"name":"a","restartCount":0,"lastState":{}}]})",
     R"({"phase":"Running","podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}],)"
     R"("containerStatuses":[{"name":"a","restartCount":1}]})",
     R"({"phase":"Running","podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}],)"
     R"("containerStatuses":[{"name":"a","restartCount":1}]})"},
    {"what is gone on the node goes", "pods", R"({"phase":"Pending","reason":"r","message":"m"})",
     R"({"phase":"Running"})", R"({"phase":"Running"})"},
    {"conditions of others stay as they are now", "pods",
     R"({"conditions":[{"type":"gate","status":"True"},{"type":"Ready","status":"False"},)"
     R"({"type":"PodResizePending","status":"True"},{"type":"DisruptionTarget","status":"True"}]})",
     R"({"conditions":[{"type":"Ready","status":"True"},{"type":"gate","status":"False"},)"
     R"({"type":"PodScheduled","status":"True"},{"type":"other","status":"True"}]})",
     R"({"conditions":[{"type":"gate","status":"True"},{"type":"DisruptionTarget",)"
     R"("status":"True"},{"type":"Ready","status":"True"},)"
     R"({"type":"PodScheduled","status":"True"}]})"},
    {"fields of others, and unknown ones", "pods",
     R"({"phase":"Pending","nominatedNodeName":"n","resourceClaimStatuses":[{"name":"c"}],)"
     R"("fromTheFuture":{"a":1}})",
     R"({"phase":"Running","resourceClaimStatuses":[],"alsoUnknown":1})",
     R"({"phase":"Running","nominatedNodeName":"n","resourceClaimStatuses":[{"name":"c"}],)"
     R"("fromTheFuture":{"a":1}})"},
    {"unknown fields of what the node owns come from the node", "pods",
     R"({"containerStatuses":[{"name":"a"}]})", R"({"containerStatuses":[{"name":"a","new":{}}]})",
     R"({"containerStatuses":[{"name":"a","new":{}}]})"},
    {"a pod that has ended there does not run again", "pods",
     R"({"phase":"Failed","reason":"Evicted","message":"m","conditions":[{"type":"Ready",)"
     R"("status":"False"},{"type":"Initialized","status":"False"}]})",
     R"({"phase":"Running","podIP":"1.2.3.4","conditions":[{"type":"Ready","status":"True"},)"
     R"({"type":"Initialized","status":"True"}]})",
     R"({"phase":"Failed","reason":"Evicted","message":"m","podIP":"1.2.3.4","conditions":[)"
     R"({"type":"Initialized","status":"True"},{"type":"Ready","status":"False"}]})"},
    {"a pod that ended here says why it was disrupted", "pods",
     R"({"phase":"Running","conditions":[{"type":"gate","status":"True"}]})",
     R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True"}]})",
     R"({"phase":"Failed","conditions":[{"type":"gate","status":"True"},)"
     R"({"type":"DisruptionTarget","status":"True"}]})"},
    {"a node's conditions, but a problem detector's not", "nodes",
     R"({"conditions":[{"type":"Ready","status":"Unknown"},{"type":"KernelDeadlock",)"
     R"("status":"False"},{"type":"NetworkUnavailable","status":"False"}]})",
     R"({"conditions":[{"type":"KernelDeadlock","status":"True"},{"type":"Ready","status":"True"},)"
     R"({"type":"NetworkUnavailable","status":"True"}]})",
     R"({"conditions":[{"type":"KernelDeadlock","status":"False"},{"type":"NetworkUnavailable",)"
     R"("status":"False"},{"type":"Ready","status":"True"}]})"},
    {"a node's addresses, two of one type", "nodes",
     R"({"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname",)"
     R"("address":"h"}]})",
     R"({"addresses":[{"type":"InternalIP","address":"10.0.0.2"},{"type":"InternalIP",)"
     R"("address":"fd00::2"},{"type":"Hostname","address":"h"}]})",
     R"({"addresses":[{"type":"InternalIP","address":"10.0.0.2"},{"type":"InternalIP",)"
     R"("address":"fd00::2"},{"type":"Hostname","address":"h"}]})"},
    {"what controllers write of a node's volumes and resources", "nodes",
     R"({"capacity":{"cpu":"2","example.com/dongle":"4"},"volumesAttached":[{"name":"new"}],)"
     R"("volumesInUse":["a"]})",
     R"({"capacity":{"cpu":"4"},"volumesAttached":[{"name":"old"}]})",
     R"({"capacity":{"cpu":"4","example.com/dongle":"4"},"volumesAttached":[{"name":"new"}]})"},
    {"the drivers of a CSINode", "csinodes", R"({"drivers":[{"name":"a","nodeID":"1"}]})",
     R"({"drivers":[{"name":"b","nodeID":"1"}]})", R"({"drivers":[{"name":"b","nodeID":"1"}]})"},
};

TEST(OwnedStatus, ThePatchLeadsToTheNodesStatusAndLeavesTheRest) {
  for (const OwnedLine& line : lines) {
    SCOPED_TRACE(line.name);
    const std::string theirs = object_with(line.resource, line.theirs);
    const std::string queued = queued_with(line.resource, line.ours);
    StatusReplay replay{line.resource, "edge1", queued, theirs};
    const auto patch = replay_patch(replay);
    ASSERT_TRUE(patch) << patch.error().what;
    ASSERT_EQ(patch->what, ReplayPatch::What::send);
    json::object sent = wire::parse_json(patch->body)->get_object();
    EXPECT_EQ(wire::serialize(sent.at("metadata")), R"({"uid":"u1"})");
    auto after = objects::strategic_patch(kind_of(line.resource),
                                          wire::parse_json(theirs)->get_object(), std::move(sent));
    ASSERT_TRUE(after) << after.error().what;
    const std::string_view part = line.resource == "csinodes" ? "spec" : "status";
    EXPECT_EQ(after->at(part), *wire::parse_json(line.result)) << wire::serialize(*after);
    // After the patch is applied there is nothing left to send.
    const std::string done = wire::serialize(*after);
    replay.theirs = done;
    EXPECT_EQ(replay_patch(replay).value().what, ReplayPatch::What::nothing);
  }
}

TEST(OwnedStatus, NullsOnEitherSideAreNotADifference) {
  const StatusReplay replay{
      "pods", "edge1",
      R"({"metadata":{"uid":"u1"},"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
      R"({"metadata":{"uid":"u1"},"spec":{"nodeName":"edge1"},"status":{"conditions":)"
      R"([{"type":"Ready","status":"True","lastProbeTime":null}]}})"};
  EXPECT_EQ(replay_patch(replay).value().what, ReplayPatch::What::nothing);
}

TEST(OwnedStatus, AnotherObjectOfThatNameIsLeftAlone) {
  struct Case {
    std::string_view queued_uid;
    std::string_view node;
    std::string_view why;  // "": it is sent
  };
  const Case cases[] = {
      {"u1", "edge1", ""},
      {"", "edge1", ""},
      {"10ca1000-0000-4000-8000-000000000000", "edge1", ""},
      {"u0", "edge1", "the cloud has another object of this name: uid u1 instead of u0"},
      {"", "edge2", "the pod is on another node: edge2"},
  };
  for (const Case& c : cases) {
    std::string queued = R"({"metadata":{"uid":")";
    queued.append(c.queued_uid).append(R"("},"status":{"phase":"Running"}})");
    std::string theirs = R"({"metadata":{"uid":"u1"},"spec":{"nodeName":")";
    theirs.append(c.node).append(R"("}})");
    const auto patch = replay_patch({"pods", "edge1", queued, theirs}).value();
    EXPECT_EQ(patch.why, c.why);
    const auto what = c.why.empty() ? ReplayPatch::What::send : ReplayPatch::What::conflict;
    EXPECT_EQ(patch.what, what) << c.why;
  }
}

TEST(OwnedStatus, KnowsWhichWritesItIsAbout) {
  EXPECT_TRUE(is_owned_status("PATCH", "pods", "status"));
  EXPECT_TRUE(is_owned_status("PATCH", "nodes", "status"));
  EXPECT_TRUE(is_owned_status("PATCH", "csinodes", ""));
  EXPECT_FALSE(is_owned_status("DELETE", "pods", ""));
  EXPECT_FALSE(is_owned_status("POST", "pods", ""));
  EXPECT_FALSE(is_owned_status("PATCH", "events", ""));
}

}  // namespace
}  // namespace holdfast::sync::autonomy
