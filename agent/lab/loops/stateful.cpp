#include "agent/lab/loops/stateful.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/loops/deadlines.h"
#include "agent/lab/loops/stateful_parts.h"
#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// One plan at work. "Ordered" is the podManagementPolicy OrderedReady: one step at a time.
class SetPlanner {
 public:
  SetPlanner(const json::object& set, const StatefulParts& parts, WallTime now, std::size_t burst)
      : set_(set),
        parts_(parts),
        now_(now),
        burst_(burst),
        ordered_(sync::wire::dig_text(set, {"spec", "podManagementPolicy"}) != "Parallel"),
        first_(first_ordinal(set)),
        count_(std::max<std::int64_t>(sync::wire::dig_int(set, {"spec", "replicas"}), 0)),
        min_ready_(sync::wire::dig_int(set, {"spec", "minReadySeconds"})) {}

  StatefulPlan plan();

 private:
  enum class Step : std::uint8_t { go_on, stop };

  void sort_pods();
  [[nodiscard]] const json::object* replica(std::int64_t ordinal) const {
    const auto found = replicas_.find(ordinal);
    return found == replicas_.end() ? nullptr : found->second;
  }
  [[nodiscard]] bool is_available(const json::object& pod);
  [[nodiscard]] bool is_unavailable(const json::object* pod) {
    return pod == nullptr || sync::wire::is_terminating(*pod) || !is_available(*pod);
  }
  [[nodiscard]] const json::object* first_unavailable();
  [[nodiscard]] bool keep_replicas();
  Step keep_replica(std::int64_t ordinal);
  Step create(std::int64_t ordinal);
  void create_claims(std::int64_t ordinal);
  void own_claims(const json::object& pod, bool condemned);
  [[nodiscard]] bool remove_condemned();
  void roll();
  void remove(const json::object& pod) {
    const std::string name(sync::wire::name_of(pod));
    if (std::find(plan_.remove.begin(), plan_.remove.end(), name) == plan_.remove.end())
      plan_.remove.push_back(name);
  }
  [[nodiscard]] std::int64_t partition() const {
    return sync::wire::dig_int(set_, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  }
  [[nodiscard]] bool rolls() const {
    return sync::wire::dig_text(set_, {"spec", "updateStrategy", "type"}) == "RollingUpdate";
  }
  void count(json::object& status, const json::object& pod);
  void report();

  const json::object& set_;
  const StatefulParts& parts_;
  WallTime now_;
  std::size_t burst_;
  bool ordered_;
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t min_ready_;

  StatefulPlan plan_;
  SetRevisions revisions_;
  std::map<std::int64_t, const json::object*> replicas_;  // by ordinal
  Objects condemned_;                                     // highest ordinal first
};

void SetPlanner::sort_pods() {
  for (const json::object* pod : parts_.pods) {
    const std::int64_t ordinal = ordinal_of(*pod);
    if (ordinal >= first_ && ordinal - first_ < count_) {
      replicas_[ordinal] = pod;
    } else if (ordinal >= 0) {
      condemned_.push_back(pod);
    }
  }
  std::sort(condemned_.begin(), condemned_.end(),
            [](const json::object* left, const json::object* right) {
              return ordinal_of(*left) > ordinal_of(*right);
            });
}

// Ready for minReadySeconds.
bool SetPlanner::is_available(const json::object& pod) {
  if (sync::wire::dig_text(pod, {"status", "phase"}) != "Running" || !is_ready(pod)) return false;
  if (min_ready_ <= 0) return true;
  for (const json::value& item : sync::wire::dig_list(pod, {"status", "conditions"})) {
    const json::object& condition = sync::wire::as_object(item);
    if (sync::wire::dig_text(condition, {"type"}) != "Ready") continue;
    const auto since = parse_rfc3339(sync::wire::dig_text(condition, {"lastTransitionTime"}));
    if (!since) return false;
    const WallTime due = seconds_after(*since, min_ready_);
    if (due > now_) bring_forward(plan_.again, due);
    return due <= now_;
  }
  return false;
}

// The pod for which everything else waits; nullptr if there is none or it must be created.
const json::object* SetPlanner::first_unavailable() {
  std::int64_t expected = first_;
  for (const auto& [ordinal, pod] : replicas_) {
    if (ordinal != expected++) return nullptr;
    if (is_unavailable(pod)) return pod;
  }
  if (expected != first_ + count_) return nullptr;
  for (auto at = condemned_.rbegin(); at != condemned_.rend(); ++at) {
    if (is_unavailable(*at)) return *at;
  }
  return nullptr;
}

void SetPlanner::create_claims(std::int64_t ordinal) {
  for (json::object& claim : claims_of(set_, ordinal)) {
    const auto exists = [&claim](const json::object* other) {
      return sync::wire::name_of(*other) == sync::wire::name_of(claim);
    };
    if (std::any_of(parts_.claims.begin(), parts_.claims.end(), exists)) continue;
    plan_.create_claims.push_back(std::move(claim));
  }
}

void SetPlanner::own_claims(const json::object& pod, bool condemned) {
  for (const json::object& claim : claims_of(set_, ordinal_of(pod))) {
    for (const json::object* existing : parts_.claims) {
      if (sync::wire::name_of(*existing) != sync::wire::name_of(claim)) continue;
      auto owners = claim_owners(set_, pod, *existing, condemned);
      if (owners) plan_.own_claims[std::string(sync::wire::name_of(claim))] = *std::move(owners);
    }
  }
}

SetPlanner::Step SetPlanner::create(std::int64_t ordinal) {
  if (plan_.create.size() >= burst_) return Step::stop;
  // A claim that is being deleted would be lost under the new pod.
  for (const json::object& claim : claims_of(set_, ordinal)) {
    for (const json::object* existing : parts_.claims) {
      if (sync::wire::name_of(*existing) == sync::wire::name_of(claim) &&
          sync::wire::is_terminating(*existing))
        return ordered_ ? Step::stop : Step::go_on;
    }
  }
  const bool old = rolls() && ordinal - first_ < partition();
  create_claims(ordinal);
  plan_.create.push_back(stateful_pod(set_, old ? revisions_.current : revisions_.update, ordinal));
  return ordered_ ? Step::stop : Step::go_on;
}

SetPlanner::Step SetPlanner::keep_replica(std::int64_t ordinal) {
  const json::object* pod = replica(ordinal);
  if (pod == nullptr) return create(ordinal);
  const Step wait = ordered_ ? Step::stop : Step::go_on;
  if (is_finished(*pod)) {
    if (!sync::wire::is_terminating(*pod)) remove(*pod);
    return wait;
  }
  if (sync::wire::dig_text(*pod, {"status", "phase"}) == "Pending") create_claims(ordinal);
  if (is_unavailable(pod) && ordered_) return Step::stop;
  own_claims(*pod, false);
  return Step::go_on;
}

// Whether there is nothing to wait for.
bool SetPlanner::keep_replicas() {
  for (std::int64_t at = 0; at < count_; ++at) {
    if (keep_replica(first_ + at) == Step::stop) return false;
  }
  return true;
}

// Removes the pods that are beyond the number of replicas, the highest ordinal first. Returns
// whether there is nothing to wait for.
bool SetPlanner::remove_condemned() {
  const json::object* unavailable = first_unavailable();
  for (const json::object* pod : condemned_) own_claims(*pod, true);
  for (const json::object* pod : condemned_) {
    if (sync::wire::is_terminating(*pod)) {
      if (ordered_) return false;
      continue;
    }
    if (ordered_ && !is_available(*pod) && pod != unavailable) return false;
    remove(*pod);
    if (ordered_) return false;
  }
  return true;
}

// Removes the highest pod of an older revision once all above it are available.
void SetPlanner::roll() {
  for (std::int64_t at = count_ - 1; at >= partition(); --at) {
    const json::object* pod = replica(first_ + at);
    const bool old =
        pod != nullptr && revision_of_pod(*pod) != sync::wire::name_of(revisions_.update);
    if (old && !sync::wire::is_terminating(*pod)) {
      remove(*pod);
      return;
    }
    if (is_unavailable(pod)) return;
  }
}

void SetPlanner::count(json::object& status, const json::object& pod) {
  const auto add = [&status](std::string_view field) {
    status[field] = status[field].as_int64() + 1;
  };
  add("replicas");
  if (sync::wire::dig_text(pod, {"status", "phase"}) == "Running" && is_ready(pod)) {
    add("readyReplicas");
    if (is_available(pod)) add("availableReplicas");
  }
  if (sync::wire::is_terminating(pod)) return;
  const std::string_view revision = revision_of_pod(pod);
  if (revision == sync::wire::name_of(revisions_.current)) add("currentReplicas");
  if (revision == sync::wire::name_of(revisions_.update)) add("updatedReplicas");
}

void SetPlanner::report() {
  json::object status = sync::wire::dig_object(set_, {"status"});
  status["observedGeneration"] = sync::wire::dig_int(set_, {"metadata", "generation"});
  for (const std::string_view field :
       {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"}) {
    status[field] = std::int64_t{0};
  }
  status["currentRevision"] = sync::wire::name_of(revisions_.current);
  status["updateRevision"] = sync::wire::name_of(revisions_.update);
  status["collisionCount"] = revisions_.collisions;
  for (const auto& [ordinal, pod] : replicas_) count(status, *pod);
  for (const json::object* pod : condemned_) count(status, *pod);
  const bool rolled = rolls() && status["updatedReplicas"].as_int64() == count_ &&
                      status["readyReplicas"].as_int64() == count_ &&
                      status["replicas"].as_int64() == count_;
  if (rolled) {
    status["currentReplicas"] = count_;
    status["currentRevision"] = sync::wire::name_of(revisions_.update);
  }
  plan_.status = std::move(status);
}

StatefulPlan SetPlanner::plan() {
  if (sync::wire::is_terminating(set_)) {
    plan_.status = sync::wire::dig_object(set_, {"status"});
    return std::move(plan_);
  }
  revisions_ = find_revisions(set_, parts_.revisions, plan_);
  sort_pods();
  // Scaling comes before updating.
  if (keep_replicas() && remove_condemned() && rolls()) roll();
  trim_revisions(set_, parts_.revisions, parts_.pods, revisions_, plan_);
  report();
  return std::move(plan_);
}

}  // namespace

StatefulPlan plan_stateful_set(const json::object& set, const StatefulParts& parts, WallTime now,
                               std::size_t burst) {
  return SetPlanner(set, parts, now, burst).plan();
}

}  // namespace holdfast::agent::lab
