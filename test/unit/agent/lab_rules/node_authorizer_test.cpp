// The decisions of the Node authorizer, compared with those of a kube-apiserver 1.36.2: see
// test/data/apiserver/README.md.

#include "agent/lab/rules/node_authorizer.h"

#include <boost/json.hpp>
#include <fstream>

#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

std::vector<json::object> recorded() {
  std::ifstream file(HOLDFAST_SOURCE_ROOT "/test/data/apiserver/node-verdicts-1.36.jsonl");
  std::vector<json::object> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(json::parse(line).as_object());
  }
  return lines;
}

NodeObjects::Each of_kind(const json::array& all, std::string_view kind) {
  return [&all, kind](const NodeObjects::Visit& visit) {
    for (const json::value& item : all) {
      if (sync::wire::dig_text(item.as_object(), {"kind"}) == kind) visit(item.as_object());
    }
  };
}

sync::objects::RequestInfo request_of(const json::object& line) {
  sync::objects::RequestInfo info;
  info.is_resource = true;
  info.verb = sync::wire::dig_text(line, {"verb"});
  info.group = sync::wire::dig_text(line, {"group"});
  info.resource = sync::wire::dig_text(line, {"resource"});
  info.subresource = sync::wire::dig_text(line, {"subresource"});
  info.namespace_name = sync::wire::dig_text(line, {"namespace"});
  info.name = sync::wire::dig_text(line, {"name"});
  info.field_selector = sync::wire::dig_text(line, {"fieldSelector"});
  return info;
}

TEST(NodeAuthorizer, JudgesAsTheRealServer) {
  const std::vector<json::object> lines = recorded();
  ASSERT_GT(lines.size(), 600U);
  const json::array& all = sync::wire::dig_list(lines.front(), {"objects"});
  const NodeObjects objects{.pods = of_kind(all, "Pod"),
                            .volumes = of_kind(all, "PersistentVolume"),
                            .attachments = of_kind(all, "VolumeAttachment")};
  for (std::size_t at = 1; at < lines.size(); ++at) {
    const json::object& line = lines[at];
    const NodeDecision decision = authorize_node("edge1", request_of(line), objects);
    EXPECT_EQ(decision.allowed, sync::wire::dig_bool(line, {"allowed"})) << json::serialize(line);
    EXPECT_EQ(decision.why, sync::wire::dig_text(line, {"reason"})) << json::serialize(line);
  }
}

TEST(NodeAuthorizer, KnowsANodeByNameAndGroup) {
  EXPECT_EQ(node_of({"system:node:a", "", {"system:nodes"}}), "a");
  EXPECT_EQ(node_of({"system:node:a", "", {"system:masters"}}), "");
  EXPECT_EQ(node_of({"a", "", {"system:nodes"}}), "");
}

TEST(NodeAuthorizer, LetsAMirrorPodReferToNothing) {
  const json::object mirror =
      json::parse(R"({"metadata":{"name":"m","namespace":"n","annotations":)"
                  R"({"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"a","volumes":)"
                  R"([{"secret":{"secretName":"s"}}]}})")
          .as_object();
  const NodeObjects objects{.pods = [&mirror](const NodeObjects::Visit& visit) { visit(mirror); },
                            .volumes = [](const NodeObjects::Visit&) {},
                            .attachments = [](const NodeObjects::Visit&) {}};
  EXPECT_TRUE(belongs_to_node("a", "pods", "n", "m", objects));
  EXPECT_FALSE(belongs_to_node("a", "secrets", "n", "s", objects));
}

}  // namespace
}  // namespace holdfast::agent::lab
