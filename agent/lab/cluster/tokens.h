// The bearer tokens of the lab's processes: each node's agent has a token with that node's rights,
// all others have an administrator's token.

#pragma once

#include <map>
#include <string>
#include <vector>

namespace holdfast::agent::lab::cluster {

struct Tokens {
  std::string admin;
  std::map<std::string, std::string> nodes;  // by the node's name

  // Creates new tokens. Node names must not contain commas or quotes.
  [[nodiscard]] static Tokens make(const std::vector<std::string>& nodes);
  // The content of the API server's token file: the administrator, and each node in the group
  // system:nodes.
  [[nodiscard]] std::string file() const;
};

}  // namespace holdfast::agent::lab::cluster
