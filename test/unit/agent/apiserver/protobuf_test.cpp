// Answers in protobuf: who gets them, and that they have the same content as the JSON.

#include "platform/text.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

const std::string protobuf = "application/vnd.kubernetes.protobuf,application/json";
const std::string nodes_path = "/api/v1/nodes";

json::object labeled_node(std::string_view name) {
  return {{"metadata", json::object{{"name", name}, {"labels", json::object{{"a", "b"}}}}},
          {"spec", json::object{{"unschedulable", true}}}};
}

TEST(InProtobuf, GetsAndListsSayWhatTheJsonSays) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object made = fixture.post(nodes_path, labeled_node("a"));
  fixture.post(nodes_path, labeled_node("b"));
  const TestResponse got = fixture.ask({.target = nodes_path + "/a", .accept = protobuf});
  EXPECT_EQ(got.headers.get("Content-Type"), sync::wire::protobuf_type);
  const sync::Node read = sync::wire::decode_protobuf<sync::Node>(got.body).value();
  EXPECT_EQ(read.metadata.uid, sync::wire::uid_of(made));
  EXPECT_EQ(read.metadata.labels.get("a"), "b");
  EXPECT_TRUE(read.spec.unschedulable);

  const TestResponse listed = fixture.ask({.target = nodes_path + "?limit=1", .accept = protobuf});
  const sync::wire::ListBytes list = sync::wire::split_protobuf_list(listed.body).value();
  const json::object plain = fixture.get(nodes_path + "?limit=1");
  EXPECT_EQ(list.head.kind, "NodeList");
  EXPECT_EQ(list.head.resource_version, sync::wire::version_of(plain));
  EXPECT_EQ(list.head.continue_token, sync::wire::dig_text(plain, {"metadata", "continue"}));
  EXPECT_EQ(list.head.remaining_item_count, 1);
  ASSERT_EQ(list.items.size(), 1u);
  EXPECT_EQ(sync::wire::decode_protobuf<sync::Node>(list.items[0]).value(), read);
}

TEST(InProtobuf, AWatchIsMadeOfFrames) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post(nodes_path, labeled_node("a"));
  const std::string accept =
      "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch";
  TestResponse response =
      fixture.ask({.target = nodes_path + "?watch=1&timeoutSeconds=90&allowWatchBookmarks=1",
                   .accept = accept});
  EXPECT_EQ(response.headers.get("Content-Type"),
            "application/vnd.kubernetes.protobuf;stream=watch");
  fixture.post(nodes_path, labeled_node("b"));
  fixture.remove(nodes_path + "/a");
  fixture.drain(response);
  std::vector<std::string> events;
  sync::wire::ProtobufFrames splitter;
  const std::vector<std::string> frames = splitter.feed(response.body).value();
  for (const std::string& frame : frames) {
    const sync::wire::WatchEvent event = sync::wire::decode_protobuf_event(frame).value();
    const sync::wire::ObjectHeader header = sync::wire::read_protobuf_header(event.object).value();
    EXPECT_EQ(header.kind, "Node");
    events.push_back(std::string(to_string(event.type)) + " " + header.name);
  }
  EXPECT_TRUE(splitter.idle());
  EXPECT_EQ(events, (std::vector<std::string>{"ADDED a", "BOOKMARK ", "ADDED b", "DELETED a",
                                              "BOOKMARK "}));
}

// As an agent renews its lease.
TEST(InProtobuf, TheMetadataOfOneObjectHasItsManagedFields) {
  ApiServerFixture fixture(options_without_controllers());
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  fixture.post(leases, {{"metadata", json::object{{"name", "a"}}},
                        {"spec", json::object{{"leaseDurationSeconds", 40}}}});
  const std::string form = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  TestRequest renewal{.method = "PATCH",
                      .target = leases + "/a?fieldManager=m",
                      .body = R"({"spec":{"holderIdentity":"a"}})",
                      .content_type = "application/merge-patch+json"};
  renewal.accept = "application/vnd.kubernetes.protobuf" + form + ",application/json" + form;
  const TestResponse response = fixture.ask(renewal);
  EXPECT_EQ(response.headers.get("Content-Type"), sync::wire::protobuf_type);
  const json::object now = fixture.get(leases + "/a");
  const auto header = sync::wire::read_protobuf_header(response.body).value();
  EXPECT_EQ(header.kind, "PartialObjectMetadata");
  EXPECT_EQ(header.api_version, "meta.k8s.io/v1");
  EXPECT_EQ(header.name, "a");
  EXPECT_EQ(header.uid, sync::wire::uid_of(now));
  EXPECT_EQ(header.resource_version, sync::wire::version_of(now));
  EXPECT_NE(response.body.find(R"({"f:spec":{"f:holderIdentity":{}}})"), std::string::npos);

  renewal.accept = "application/json" + form;
  const TestResponse plain = fixture.ask(renewal);
  EXPECT_EQ(plain.headers.get("Content-Type"), "application/json");
  EXPECT_LT(response.body.size(), plain.body.size() * 3 / 4);
  renewal.target = leases + "/none";
  EXPECT_EQ(fixture.ask(renewal).headers.get("Content-Type"), "application/json");
}

TEST(InProtobuf, EverythingElseIsJson) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post(nodes_path, labeled_node("a"));
  const TestRequest cases[] = {
      {.target = nodes_path + "/a"},
      {.target = nodes_path + "/a", .accept = "application/json," + protobuf},
      {.target = nodes_path + "/none", .accept = protobuf},
      {.target = "/api/v1/namespaces/default/configmaps", .accept = protobuf},
      {.method = "PATCH",
       .target = nodes_path + "/a",
       .body = "{}",
       .content_type = "application/merge-patch+json",
       .accept = protobuf},
  };
  for (const TestRequest& asked : cases) {
    const TestResponse response = fixture.ask(asked);
    EXPECT_EQ(response.headers.get("Content-Type"), "application/json") << asked.target;
    EXPECT_TRUE(response.body.starts_with('{')) << asked.target;
  }
}

}  // namespace
}  // namespace holdfast::test
