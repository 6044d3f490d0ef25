// What `kubectl logs`, `exec` and `port-forward` ask of a pod, as the request to the kubelet of its
// node. Pure.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/lab/rules/answer.h"
#include "platform/query.h"

namespace holdfast::agent::lab {

// A request to a node's kubelet.
struct NodeRequest {
  std::string node;       // the Node's name
  std::string pod;        // for messages
  std::string target;     // "/containerLogs/NAMESPACE/POD/CONTAINER?follow=true"
  bool is_log = false;    // a plain GET, whose answer is the log
  bool follows = false;   // the log does not end while the container runs
  std::string host = {};  // where the kubelet serves
  std::uint16_t port = 0;

  bool operator==(const NodeRequest&) const = default;
};

// The request for the subresource "log", "exec" or "portforward" of the pod, without the address.
// Nothing for the log of a pod that has no node yet: it is empty. Refusals, in upstream's words:
// 400 (no or an unknown container, an option that is not a number, no node), 422 (impossible
// options).
[[nodiscard]] Answer<std::optional<NodeRequest>> node_request(std::string_view subresource,
                                                              const boost::json::object& pod,
                                                              const Query& query);

// Fills in where the kubelet of the node serves: the InternalIP, or else the first address, and the
// port in status.daemonEndpoints. Refusal: 502, if the node has said neither.
[[nodiscard]] Answer<bool> set_address(const boost::json::object& node, NodeRequest& request);

}  // namespace holdfast::agent::lab
