// Everything that a run of the demo has observed, as plain values in chronological order. The
// checks and the report use nothing else.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::agent::demo {

using DemoTime = Duration;  // time since the start of the demo

// The events that the script causes or waits for.
enum class DemoEvent : std::uint8_t {
  steady,
  cut,
  agent_killed,
  agent_back,
  pod_killed,
  restored,
  ended,
  // room for an important pod
  node_full,   // a node is full
  vip_posted,  // a pod that must run there is created
  preempted,
  // of the second act
  sites_open,
  site_cut,
  all_cut,
  all_unknown,  // all nodes Unknown, no NoExecute taint is left
  all_restored,
  closed
};

struct Mark {
  DemoTime at{};
  DemoEvent event = DemoEvent::steady;
  std::vector<std::string> nodes = {};  // affected ones
  std::string text = {};                // "kill -9 the agent"

  bool operator==(const Mark&) const = default;
};

// The link state that an agent reports; "down" while it does not answer.
struct LinkSeen {
  DemoTime at{};
  std::string node = {};
  std::string state = {};
  std::int64_t outbox = 0;  // queued writes; -1: unknown

  bool operator==(const LinkSeen&) const = default;
};

struct NodeSeen {
  DemoTime at{};
  std::string name = {};
  std::string ready = {};                // status of the Ready condition
  std::vector<std::string> taints = {};  // "node.kubernetes.io/unreachable:NoExecute"

  bool operator==(const NodeSeen&) const = default;
};

struct LeaseSeen {
  DemoTime at{};
  std::string node = {};
  WallTime renewed{};
  std::string version = {};

  bool operator==(const LeaseSeen&) const = default;
};

struct PodSeen {
  DemoTime at{};
  std::string uid = {};
  std::string name = {};
  std::string owner = {};      // kind of the controller: ReplicaSet, DaemonSet
  std::string node = {};       // empty: not bound yet
  std::string nominated = {};  // status.nominatedNodeName
  bool ready = false;
  bool deleting = false;
  bool gone = false;
  int restarts = 0;

  bool operator==(const PodSeen&) const = default;
};

// The process of a container, with the times at which it was first and last observed alive.
struct ProcessSeen {
  std::string uid = {};  // of its pod
  std::string node = {};
  int pid = 0;
  std::uint64_t start_ticks = 0;
  DemoTime began{};
  std::optional<DemoTime> ended = {};

  bool operator==(const ProcessSeen&) const = default;
};

// The answer of an agent's proxy to a list request.
struct AnswerSeen {
  DemoTime asked{};
  DemoTime at{};  // answered
  std::string node = {};
  std::string path = {};
  bool incomplete = false;  // the agent cannot have the complete list, so 200 would be wrong
  int status = 0;           // 0: no answer at all
  std::int64_t items = -1;  // -1: not a list
  std::int64_t known = 0;   // pods that run on the node, which the agent must know

  bool operator==(const AnswerSeen&) const = default;
};

// A resourceVersion that a watching client received.
struct VersionSeen {
  DemoTime at{};
  std::string client = {};
  bool relisted = false;  // the client has listed again
  std::uint64_t version = 0;

  bool operator==(const VersionSeen&) const = default;
};

struct JournalSeen {
  std::string node = {};
  std::int64_t seq = 0;
  std::string kind = {};
  std::string subject = {};
  std::string what = {};
  std::int64_t entry = 0;

  bool operator==(const JournalSeen&) const = default;
};

struct MemorySeen {
  std::string node = {};
  std::int64_t pss_kib = 0;
  std::int64_t pods = 0;

  bool operator==(const MemorySeen&) const = default;
};

struct ReplicasSeen {
  DemoTime at{};
  int wanted = 0;
  int ready = 0;

  bool operator==(const ReplicasSeen&) const = default;
};

struct History {
  std::vector<Mark> marks = {};
  std::vector<LinkSeen> links = {};
  std::vector<NodeSeen> nodes = {};
  std::vector<LeaseSeen> leases = {};
  std::vector<PodSeen> pods = {};
  std::vector<ProcessSeen> processes = {};
  std::vector<AnswerSeen> answers = {};
  std::vector<VersionSeen> versions = {};
  std::vector<JournalSeen> journal = {};
  std::vector<MemorySeen> memory = {};
  std::vector<ReplicasSeen> replicas = {};
  std::vector<std::string> gone_410 = {};        // clients that received a 410
  std::vector<int> left_running = {};            // pids still running at the end
  std::vector<std::string> abnormal_exits = {};  // programs that ended abnormally, and how

  // The time of the first mark of `event`, if there is one.
  [[nodiscard]] std::optional<DemoTime> when(DemoEvent event) const {
    for (const Mark& mark : marks) {
      if (mark.event == event) return mark.at;
    }
    return std::nullopt;
  }
};

}  // namespace holdfast::agent::demo
