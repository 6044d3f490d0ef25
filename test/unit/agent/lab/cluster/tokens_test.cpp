#include "agent/lab/cluster/tokens.h"

#include "agent/lab/rules/identity.h"
#include "agent/lab/rules/node_authorizer.h"

namespace holdfast::agent::lab::cluster {
namespace {

TEST(LabTokens, GiveAgentsTheRightsOfTheirNodesAndNoMore) {
  const Tokens tokens = Tokens::make({"edge-a", "edge-b"});
  const auto table = TokenTable::parse(tokens.file());
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->all().size(), 3u) << "each token has its own secret";
  const Identity* const admin = table->find(tokens.admin);
  ASSERT_NE(admin, nullptr);
  EXPECT_TRUE(admin->in_group("system:masters"));
  for (const char* node : {"edge-a", "edge-b"}) {
    const Identity* const agent = table->find(tokens.nodes.at(node));
    ASSERT_NE(agent, nullptr) << node;
    EXPECT_EQ(node_of(*agent), node);
    EXPECT_FALSE(agent->in_group("system:masters")) << node;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::cluster
