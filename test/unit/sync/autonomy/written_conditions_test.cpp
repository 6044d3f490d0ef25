// A program on the node, such as a problem detector, writes a condition through the agent while the
// cloud is unreachable. It reaches the API server, and the conditions of others stay as they are.

#include <gtest/gtest.h>

#include "sync/autonomy/local_write.h"
#include "sync/autonomy/owned_status.h"
#include "sync/objects/patch/strategic_patch.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy::written {
namespace {

struct Row {
  std::string_view name;
  std::string resource;
  std::string shown;                 // the conditions that the API server had shown, as a list
  std::vector<std::string> patches;  // of conditions, as lists, in order
  std::string theirs;                // the conditions that the API server has at the end
  std::string result;                // those that it has after the replay
};

const std::string down = R"({"type":"LinkDown","status":"True"})";
const std::string up = R"({"type":"LinkDown","status":"False"})";
const std::string other = R"({"type":"KernelDeadlock","status":"False"})";
const std::string deadlock = R"({"type":"KernelDeadlock","status":"True"})";
const std::string ready = R"({"type":"Ready","status":"True"})";
const std::string not_ready = R"({"type":"Ready","status":"False"})";
const std::string no_link_down = R"({"type":"LinkDown","$patch":"delete"})";
const std::string disrupted = R"({"type":"DisruptionTarget","status":"True"})";

std::string list(const std::vector<std::string>& conditions) {
  std::string text = "[";
  for (const std::string& each : conditions) {
    if (text.size() > 1) text += ',';
    text += each;
  }
  return text + "]";
}

const Row rows[] = {
    {"a new condition", "nodes", list({ready}), {list({down})}, list({ready}), list({ready, down})},
    {"a changed one",
     "nodes",
     list({ready, up}),
     {list({down})},
     list({ready, up}),
     list({ready, down})},
    {"the last of several counts",
     "nodes",
     list({ready}),
     {list({down}), list({up})},
     list({ready}),
     list({ready, up})},
    {"a later status of the kubelet does not take it back",
     "nodes",
     list({ready}),
     {list({down}), list({not_ready})},
     list({ready}),
     list({down, not_ready})},
    {"one that is gone goes",
     "nodes",
     list({ready, up}),
     {list({no_link_down})},
     list({ready, up}),
     list({ready})},
    {"what the cloud changes meanwhile stays",
     "nodes",
     list({ready, other}),
     {list({not_ready, down})},
     list({ready, deadlock}),
     list({deadlock, down, not_ready})},
    {"what is written unchanged is not written",
     "nodes",
     list({ready, other}),
     {list({not_ready, other})},
     list({ready, deadlock}),
     list({deadlock, not_ready})},
    {"a readiness gate of a pod",
     "pods",
     list({ready}),
     {list({R"({"type":"example.com/gate","status":"True"})"})},
     list({ready}),
     list({ready, R"({"type":"example.com/gate","status":"True"})"})},
    {"a pod that goes on running is not disrupted",
     "pods",
     list({ready}),
     {list({disrupted, not_ready})},
     list({ready}),
     list({not_ready})},
};

// The object with these conditions.
std::string object(const Row& row, const std::string& conditions) {
  const bool node = row.resource == "nodes";
  std::string text = node ? R"({"kind":"Node",)" : R"({"kind":"Pod",)";
  text += R"("apiVersion":"v1","metadata":{"name":"edge1","uid":"u1","resourceVersion":"41"},)";
  text += R"("spec":{"nodeName":"edge1"},"status":{"conditions":)" + conditions + "}}";
  return text;
}

class Writer {
 public:
  explicit Writer(const Row& row)
      : info_(objects::parse_request("PATCH",
                                     row.resource == "nodes"
                                         ? "/api/v1/nodes/edge1/status"
                                         : "/api/v1/namespaces/a/pods/edge1/status",
                                     "")
                  .value()) {}

  // Applies a write to the object that `current` is. Queues what is to be sent.
  LocalOutcome write(const std::string& current, const std::string& body, bool queued = false) {
    const LocalWrite write{.admission = admit(info_, "edge1"),
                           .request = info_,
                           .content_type = "application/strategic-merge-patch+json",
                           .body = body,
                           .queued = queued,
                           .waiting = waiting_,
                           .node_name = "edge1",
                           .current = current,
                           .version = objects::first_local_version};
    LocalOutcome outcome = apply_local_write(write);
    EXPECT_TRUE(outcome.accepted) << outcome.refusal.message;
    if (outcome.queued) waiting_ = {outcome.queued->body};
    return outcome;
  }

  std::vector<std::string> waiting_;

 private:
  objects::RequestInfo info_;
};

std::string patch_of(const std::string& conditions) {
  return R"({"status":{"conditions":)" + conditions + "}}";
}

json::array conditions_of(const json::value& object) {
  return object.at("status").at("conditions").as_array();
}

// The conditions in the order of their types: that in which they are listed means nothing.
std::map<std::string, json::value> by_type(const json::array& conditions) {
  std::map<std::string, json::value> sorted;
  for (const json::value& each : conditions) {
    sorted.emplace(wire::dig_text(wire::as_object(each), {"type"}), each);
  }
  EXPECT_EQ(sorted.size(), conditions.size());
  return sorted;
}

TEST(WrittenConditions, ReachTheApiServer) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Writer writer(row);
    std::string local = object(row, row.shown);
    for (const std::string& patch : row.patches) {
      local = writer.write(local, patch_of(patch)).object;
    }
    ASSERT_EQ(writer.waiting_.size(), 1u);
    const std::string& queued = writer.waiting_[0];
    const std::string theirs = object(row, row.theirs);
    const StatusReplay replay{row.resource, "edge1", queued, theirs};
    const auto sent = replay_patch(replay);
    ASSERT_TRUE(sent) << sent.error().what;
    ASSERT_EQ(sent->what, ReplayPatch::What::send);
    EXPECT_EQ(sent->body.find("writtenConditions"), std::string::npos) << sent->body;
    const std::string_view kind = row.resource == "nodes" ? "Node" : "Pod";
    const auto after = objects::strategic_patch(kind, wire::parse_json(theirs)->get_object(),
                                                wire::parse_json(sent->body)->get_object());
    ASSERT_TRUE(after) << after.error().what;
    EXPECT_EQ(by_type(conditions_of(*after)), by_type(wire::parse_json(row.result)->get_array()));

    // After a restart, the cache has what the API server had shown, and gets the queued status.
    const std::string again = Writer(row).write(object(row, row.theirs), queued, true).object;
    EXPECT_EQ(by_type(conditions_of(*wire::parse_json(again))),
              by_type(wire::parse_json(row.result)->get_array()));
  }
}

TEST(WrittenConditions, OnlyAHeartbeatIsNotQueued) {
  const Row& row = rows[0];
  Writer writer(row);
  const std::string current =
      object(row, R"([{"type":"LinkDown","status":"True","lastHeartbeatTime":"t1"}])");
  const auto outcome = writer.write(
      current, patch_of(R"([{"type":"LinkDown","status":"True","lastHeartbeatTime":"t2"}])"));
  EXPECT_TRUE(outcome.only_heartbeat);
  EXPECT_FALSE(outcome.queued);
}

TEST(WrittenConditions, ACallerCannotNameThem) {
  const Row& row = rows[0];
  Writer writer(row);
  const std::string patch = R"({"writtenConditions":["KernelDeadlock"],"status":{"conditions":)" +
                            list({not_ready}) + "}}";
  const auto outcome = writer.write(object(row, list({ready, other})), patch);
  EXPECT_EQ(outcome.object.find("writtenConditions"), std::string::npos) << outcome.object;
  EXPECT_EQ(writer.waiting_.at(0).find("writtenConditions"), std::string::npos);
}

TEST(WrittenConditions, BrokenAndForeignNamesInTheQueueHarmNothing) {
  const Row& row = rows[0];
  const std::string uid = R"({"metadata":{"uid":"u1"},"writtenConditions":)";
  const std::string type = R"("KernelDeadlock")";
  const std::string other_uid = R"({"metadata":{"uid":"u0"},"writtenConditions":[)" + type + "]}";
  for (const std::string& broken :
       {std::string(), std::string("{"), std::string("[]"), uid, uid + type + "}",
        uid + "[1,{},null,[" + type + "]]}", uid + "{" + type + ":true}}", other_uid}) {
    SCOPED_TRACE(broken);
    Writer writer(row);
    writer.waiting_ = {broken};
    writer.write(object(row, list({ready, other})), patch_of(list({not_ready})));
    const std::string theirs = object(row, list({ready, deadlock}));
    const auto sent = replay_patch({"nodes", "edge1", writer.waiting_.at(0), theirs});
    ASSERT_TRUE(sent) << sent.error().what;
    const auto after = objects::strategic_patch("Node", wire::parse_json(theirs)->get_object(),
                                                wire::parse_json(sent->body)->get_object());
    ASSERT_TRUE(after) << after.error().what;
    EXPECT_EQ(by_type(conditions_of(*after)),
              by_type(wire::parse_json(list({not_ready, deadlock}))->get_array()));
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy::written
