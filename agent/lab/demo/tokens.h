// With which rights the demo's processes come to its API server: a node's agent with that node's,
// all others with an administrator's.

#pragma once

#include <map>
#include <string>
#include <vector>

namespace holdfast::agent::demo {

struct Tokens {
  std::string admin;
  std::map<std::string, std::string> nodes;  // by the node's name

  // New secrets. Names of nodes have neither commas nor quotes.
  [[nodiscard]] static Tokens make(const std::vector<std::string>& nodes);
  // The content of a token file: the administrator, and each node in the group system:nodes.
  [[nodiscard]] std::string file() const;
};

}  // namespace holdfast::agent::demo
