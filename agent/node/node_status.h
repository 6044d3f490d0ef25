// Builds the Node object that is registered and the conditions that are posted, with the kubelet's
// reasons and messages. Pure, except for read_machine().

#pragma once

#include <string>
#include <vector>

#include "platform/time.h"
#include "sync/model/types.h"

namespace holdfast::agent::node {

// Facts about this machine.
struct Machine {
  std::string host_name;
  std::string kernel_version;
  std::string architecture;  // as Go names it: "amd64", "arm64"
  std::string os_image;
  std::string boot_id;
  int cpus = 1;
  std::int64_t memory_bytes = 0;
};
// Reads them from uname(), /proc and /etc/os-release. Facts that cannot be read stay empty.
[[nodiscard]] Machine read_machine();

// What distinguishes this node from others on the same machine.
struct NodeFlags {
  std::string name;
  std::string labels;                 // "a=b,c=d"; they override the well-known ones
  std::string capacity = {};          // "cpu=4,pods=110"; it overrides the machine's
  std::string address = "127.0.0.1";  // the InternalIP
  std::uint16_t kubelet_port = 0;     // of the kubelet's API at this address; 0: not served
};

// The Node to register, without the version of the container runtime. Errors: invalid, naming the
// label or the resource.
[[nodiscard]] Result<sync::Node> make_node(const NodeFlags& flags, const Machine& machine,
                                           WallTime now);

// The node's conditions. The pressure conditions whose types are in `pressed` are True.
[[nodiscard]] std::vector<sync::NodeCondition> conditions_under(
    const std::vector<std::string>& pressed);

// Whether the API's view of the node differs from `ours`, apart from heartbeats.
[[nodiscard]] bool needs_status(const sync::Node& seen, const sync::NodeStatus& ours);

// The strategic merge patch that posts our conditions, with the times of unchanged ones kept.
[[nodiscard]] std::string status_patch(const sync::Node& seen, sync::NodeStatus ours, WallTime now);

}  // namespace holdfast::agent::node
