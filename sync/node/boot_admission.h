// Predicts which pods of a node its kubelet refuses when it starts again.
//
// A kubelet that starts admits its pods in the order of their creation, each beside those that it
// has admitted before, by the labels, taints and allocatable resources of its Node. What has
// changed since a pod started, such as a label, counts then. The rules are those of upstream's
// pkg/kubelet/lifecycle; devices and the operating system are not examined here. Pure.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sync/model/types.h"

namespace holdfast::sync::node {

// As in the status that the kubelet gives to a pod that it refuses.
struct Refusal {
  std::string reason;
  std::string message;

  bool operator==(const Refusal&) const = default;
};

// By the pods' uids. Pods that have ended or are being deleted are not counted. O(n^2) for n pods
// if all of them are critical, otherwise O(n log n).
[[nodiscard]] std::map<std::string, Refusal, std::less<>> refused_at_boot(const Node& node,
                                                                          std::vector<Pod> pods);

}  // namespace holdfast::sync::node
