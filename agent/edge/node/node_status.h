// What a node whose pods run as plain processes says of itself: the object it registers and the
// conditions it posts, worded as a kubelet words them.

#pragma once

#include <string>

#include "platform/time.h"
#include "sync/api/types.h"

namespace holdfast::agent {

// Facts about this machine.
struct Machine {
  std::string host_name;
  std::string kernel_version;
  std::string architecture;  // "amd64", as Go says it
  std::string os_image;
  std::string boot_id;
  int cpus = 1;
  std::int64_t memory_bytes = 0;
};
[[nodiscard]] Machine read_machine();

// `labels` as "a=b,c=d", over the well-known ones. Errors: invalid, naming the label.
[[nodiscard]] Result<sync::Node> make_node(const std::string& name, const Machine& machine,
                                           const std::string& labels, WallTime now);

// Whether the cloud's view of the node lacks what we say, apart from heartbeats.
[[nodiscard]] bool needs_status(const sync::Node& seen, const sync::NodeStatus& ours);

// The strategic merge patch that posts our conditions, with the times of unchanged ones kept.
[[nodiscard]] std::string status_patch(const sync::Node& seen, sync::NodeStatus ours, WallTime now);

}  // namespace holdfast::agent
