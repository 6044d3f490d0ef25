// What a node may do: the rules of upstream's Node authorizer with field selectors, as 1.34 and
// later have it.
//
// A node reads its own Node, the pods that are bound to it, and what these refer to: Secrets,
// ConfigMaps and service accounts, claims, their volumes. Each of these objects by its name; lists
// of pods only with the field selector spec.nodeName. What it may write is told here only as far as
// it shows in the request; check_node_write() judges the content.

#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "sync/api/request_info.h"
#include "sync/apiserver/answer.h"
#include "sync/apiserver/identity.h"

namespace holdfast::sync {

// The name of the node whose identity it is: "a" of system:node:a in the group system:nodes.
// "" of all others.
[[nodiscard]] std::string_view node_of(const Identity& identity);

// The objects that tell what belongs to a node. The functions are called during the call only.
struct NodeObjects {
  using Visit = std::function<void(const boost::json::object&)>;
  using Each = std::function<void(const Visit&)>;
  Each pods;         // of all namespaces
  Each volumes;      // PersistentVolumes
  Each attachments;  // VolumeAttachments
};

// Whether the node may send the request.
struct NodeVerdict {
  bool allowed = false;
  std::string why;  // of a refusal, as upstream says it; may be empty
};
[[nodiscard]] NodeVerdict judge_node(std::string_view node, const RequestInfo& info,
                                     const NodeObjects& objects);

// Whether one of the node's pods refers to the object, directly or through a claim and its volume.
// `resource` is secrets, configmaps, serviceaccounts, persistentvolumeclaims, persistentvolumes,
// pods or resourceclaims. A mirror pod refers to nothing.
[[nodiscard]] bool belongs_to_node(std::string_view node, std::string_view resource,
                                   std::string_view name_space, std::string_view name,
                                   const NodeObjects& objects);

}  // namespace holdfast::sync
