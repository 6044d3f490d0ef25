// Authorizes requests of nodes, with the rules of upstream's Node authorizer including field
// selectors, as in 1.34 and later.
//
// A node may read its own Node, the pods that are bound to it, and what these pods refer to:
// Secrets, ConfigMaps, service accounts, claims and their volumes. It may read these objects only
// by name, and list pods only with the field selector spec.nodeName. Writes are checked here only
// as far as the request line shows; restrict_node() (node_restriction.h) checks the content.

#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "agent/lab/rules/answer.h"
#include "agent/lab/rules/identity.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent::lab {

// The name of the node with this identity: "a" for user system:node:a in group system:nodes; "" for
// all others.
[[nodiscard]] std::string_view node_of(const Identity& identity);

// The objects that determine what belongs to a node. The functions are used only during the call.
struct NodeObjects {
  using Visit = std::function<void(const boost::json::object&)>;
  using Each = std::function<void(const Visit&)>;
  Each pods;         // of all namespaces
  Each volumes;      // PersistentVolumes
  Each attachments;  // VolumeAttachments
};

// Whether the node may send the request.
struct NodeDecision {
  bool allowed = false;
  std::string why;  // the reason of a refusal, in upstream's words; may be empty
};
[[nodiscard]] NodeDecision authorize_node(std::string_view node,
                                          const sync::objects::RequestInfo& info,
                                          const NodeObjects& objects);

// Whether one of the node's pods refers to the object, directly or through a claim and its volume.
// `resource` is secrets, configmaps, serviceaccounts, persistentvolumeclaims, persistentvolumes,
// pods or resourceclaims. References of mirror pods do not count.
[[nodiscard]] bool belongs_to_node(std::string_view node, std::string_view resource,
                                   std::string_view name_space, std::string_view name,
                                   const NodeObjects& objects);

}  // namespace holdfast::agent::lab
