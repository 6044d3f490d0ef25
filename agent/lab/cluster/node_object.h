// The Node objects of a cluster's nodes.

#pragma once

#include <optional>
#include <string>

#include "agent/lab/guest/guest.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::cluster {

// Labels that the lab gives to nodes and pods, besides those of Kubernetes.
inline constexpr std::string_view site_label = "holdfast.io/site";

// The Node that is created before its agent starts: with the site's labels, annotations and taints,
// which a node may not give itself. Its status comes from the agent.
// In a cluster of others it has their run's marks, a taint that keeps away the pods of others, and
// a zone of its own, because a lifecycle controller judges the nodes of a zone together.
[[nodiscard]] std::string node_object(const Site& site, const std::string& name,
                                      const std::optional<guest::Guest>& guest = {});

}  // namespace holdfast::agent::lab::cluster
