// What a node may write: upstream's admission plugin NodeRestriction, which judges the content of
// requests that the Node authorizer (node_authorizer.h) let pass.
//
// The owner's uid of a mirror pod is not checked.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sync {

struct NodeWrite {
  std::string_view resource;  // plural: "pods"
  std::string_view subresource;
  std::string_view verb;  // create, update (a patch, too) or delete
  std::string_view name_space;
  std::string_view name;                        // as in the path; "" of a create
  const boost::json::object* now = nullptr;     // as the client wants it; null of a delete
  const boost::json::object* before = nullptr;  // null of a create
  // Of an eviction and of a TokenRequest: the pod it is about; null when there is none.
  const boost::json::object* pod = nullptr;
};

// Why the node may not write this, as upstream says it; or nothing.
[[nodiscard]] std::optional<std::string> restrict_node(std::string_view node,
                                                       const NodeWrite& write);

}  // namespace holdfast::sync
