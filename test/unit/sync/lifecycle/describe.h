// Prints effects as one line of text each, and makes objects for tests.

#pragma once

#include <string>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/intent.h"
#include "sync/model/types.h"
#include "test/unit/sync/objects/taints.h"

namespace holdfast::sync::lifecycle {

// The wall time at MonoTime{} in all tests.
inline constexpr WallTime test_epoch{std::chrono::hours(24 * 365 * 50)};
inline constexpr WallTime wall = test_epoch;
inline constexpr MonoTime start{};

using Lines = std::vector<std::string>;

// "status a Ready=Unknown(NodeStatusUnknown)", "taint a +node.kubernetes.io/unreachable:NoExecute",
// "event Node/a Normal NodeNotReady", ... The lines have no messages and times; tests of those
// compare whole values.
std::vector<std::string> describe(const Effects& effects);
std::vector<std::string> describe(const Intents& intents);
std::vector<std::string> describe(const std::vector<PatchTaints>& patches);

// A node whose Ready condition has the status `ready`, with heartbeat and transition `beat` after
// test_epoch. Without the condition if `ready` is empty.
Node make_node(const std::string& name, std::string_view ready, Duration beat = {});
NodeFacts make_facts(const std::string& name, std::string_view ready, Duration beat = {});

// A Ready pod in namespace "default" on `node`.
Pod make_pod(const std::string& name, const std::string& node);
PodFacts make_pod_facts(const std::string& name, const std::string& node);

using objects::make_no_execute;
using objects::make_toleration;

}  // namespace holdfast::sync::lifecycle
