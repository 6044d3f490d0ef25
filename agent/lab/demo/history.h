// Everything a run of the demo has seen, as plain values in the order of time. What is judged and
// drawn at the end comes from here and from nowhere else.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::agent::demo {

using At = Duration;  // since the demo began

// A deed of the story.
enum class Deed : std::uint8_t {
  steady,
  cut,
  agent_killed,
  agent_back,
  pod_killed,
  restored,
  ended,
  // room for an important pod
  crowded,     // a node is full
  vip_posted,  // a pod that must run there is created
  room_made,
  // of the second act
  sites_open,
  site_cut,
  all_cut,
  all_dark,  // seen by the cloud, too
  all_restored,
  closed
};

struct Mark {
  At at{};
  Deed deed = Deed::steady;
  std::vector<std::string> nodes = {};  // done to
  std::string text = {};                // "kill -9 the agent"

  bool operator==(const Mark&) const = default;
};

// What an agent says of its link; "down" while it does not answer.
struct LinkSeen {
  At at{};
  std::string node = {};
  std::string state = {};
  std::int64_t outbox = 0;  // writes that wait; -1 unknown

  bool operator==(const LinkSeen&) const = default;
};

struct NodeSeen {
  At at{};
  std::string name = {};
  std::string ready = {};                // status of the Ready condition
  std::vector<std::string> taints = {};  // "node.kubernetes.io/unreachable:NoExecute"

  bool operator==(const NodeSeen&) const = default;
};

struct LeaseSeen {
  At at{};
  std::string node = {};
  WallTime renewed{};
  std::string version = {};

  bool operator==(const LeaseSeen&) const = default;
};

struct PodSeen {
  At at{};
  std::string uid = {};
  std::string name = {};
  std::string owner = {};      // kind of the controller: ReplicaSet, DaemonSet
  std::string node = {};       // empty: not bound yet
  std::string nominated = {};  // the node that it is promised
  bool ready = false;
  bool deleting = false;
  bool gone = false;
  int restarts = 0;

  bool operator==(const PodSeen&) const = default;
};

// One process that stands for a container, from when we first to when we last saw it alive.
struct ProcessSeen {
  std::string uid = {};  // of its pod
  std::string node = {};
  int pid = 0;
  std::uint64_t start_ticks = 0;
  At began{};
  std::optional<At> ended = {};

  bool operator==(const ProcessSeen&) const = default;
};

// A list that was asked of an agent's proxy.
struct AnswerSeen {
  At asked{};
  At at{};  // answered
  std::string node = {};
  std::string path = {};
  bool incomplete = false;  // the agent cannot have the whole list: any 200 is a lie
  int status = 0;           // 0: no answer at all
  std::int64_t items = -1;  // -1: not a list
  std::int64_t known = 0;   // pods that the node runs and so must know of

  bool operator==(const AnswerSeen&) const = default;
};

// A resourceVersion that a watching client was given.
struct VersionSeen {
  At at{};
  std::string client = {};
  bool relisted = false;  // it begins anew with this one
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
  At at{};
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
  std::vector<std::string> gone_410 = {};  // clients that were told to list again
  std::vector<int> left_running = {};      // pids that outlived the demo's end
  std::vector<std::string> bad_ends = {};  // programs that did not end in order, and how

  // When that was done first; nothing when it never was.
  [[nodiscard]] std::optional<At> when(Deed deed) const {
    for (const Mark& mark : marks) {
      if (mark.deed == deed) return mark.at;
    }
    return std::nullopt;
  }
};

}  // namespace holdfast::agent::demo
