// Checks the content of nodes' writes, like upstream's admission plugin NodeRestriction. The Node
// authorizer (node_authorizer.h) has already admitted the requests.
//
// The owner uid of a mirror pod is not checked.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::agent::lab {

struct NodeWrite {
  std::string_view resource;  // plural: "pods"
  std::string_view subresource;
  std::string_view verb;  // create, update (a patch, too) or delete
  std::string_view name_space;
  std::string_view name;                        // from the path; "" for a create
  const boost::json::object* now = nullptr;     // the client's object; null for a delete
  const boost::json::object* before = nullptr;  // the stored object; null for a create
  // The pod of an eviction or TokenRequest; null if it does not exist.
  const boost::json::object* pod = nullptr;
};

// Why the node may not write this, in upstream's words; nothing if it may.
[[nodiscard]] std::optional<std::string> restrict_node(std::string_view node,
                                                       const NodeWrite& write);

}  // namespace holdfast::agent::lab
