// Effects as one line of text each, with all that they say, and short ways to make objects.

#pragma once

#include <string>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/wish.h"
#include "sync/model/types.h"

namespace holdfast::sync::lifecycle {

// The zero of all tests' clocks: MonoTime{} is this wall time.
inline constexpr WallTime test_epoch{std::chrono::hours(24 * 365 * 50)};
inline constexpr WallTime wall = test_epoch;
inline constexpr MonoTime start{};

using Lines = std::vector<std::string>;

// "status a Ready=Unknown(NodeStatusUnknown)", "taint a +node.kubernetes.io/unreachable:NoExecute",
// "event Node/a Normal NodeNotReady", ... Messages and times are left out; tests of those compare
// whole values.
std::vector<std::string> describe(const Effects& effects);
std::vector<std::string> describe(const Wishes& wishes);
std::vector<std::string> describe(const std::vector<PatchTaints>& patches);

// A node with Ready of that status, its heartbeat and transition at the epoch plus `beat`.
Node make_node(const std::string& name, std::string_view ready, Duration beat = {});
NodeFacts make_facts(const std::string& name, std::string_view ready, Duration beat = {});

// A pod in namespace "default" on `node`, Ready.
Pod make_pod(const std::string& name, const std::string& node);
PodFacts make_pod_facts(const std::string& name, const std::string& node);

Taint make_no_execute(const std::string& key);
// Exists, NoExecute; for ever without seconds.
Toleration make_toleration(const std::string& key, std::optional<std::int64_t> seconds);

}  // namespace holdfast::sync::lifecycle
