#include "agent/lab/cluster/tokens.h"

#include "platform/random.h"
#include "sync/identity/csr.h"

namespace holdfast::agent::lab::cluster {

Tokens Tokens::make(const std::vector<std::string>& nodes) {
  Tokens tokens{.admin = make_secret(), .nodes = {}};
  for (const std::string& node : nodes) tokens.nodes[node] = make_secret();
  return tokens;
}

std::string Tokens::file() const {
  std::string text = admin + ",admin,admin,\"system:masters\"\n";
  for (const auto& [node, token] : nodes) {
    text += token + "," + sync::identity::node_user(node) + "," + node + ",\"" +
            std::string(sync::identity::nodes_group) + "\"\n";
  }
  return text;
}

}  // namespace holdfast::agent::lab::cluster
