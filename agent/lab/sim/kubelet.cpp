#include "agent/lab/sim/kubelet.h"

#include <algorithm>
#include <utility>

#include "agent/lab/sim/objects.h"
#include "platform/check.h"
#include "sync/runtime/status_patch.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::lab::sim {

namespace runtime = sync::runtime;
namespace json = sync::json;

namespace {

// The kubelet's periods.
constexpr Duration lease_interval = std::chrono::seconds(10);
constexpr Duration status_interval = std::chrono::seconds(10);
constexpr Duration report_interval = std::chrono::minutes(5);
constexpr Duration enroll_pause_max = std::chrono::seconds(7);
constexpr Duration retry_min = std::chrono::seconds(1);
constexpr Duration retry_max = std::chrono::seconds(30);
constexpr int rounds_max = 1000;
constexpr std::string_view strategic = "application/strategic-merge-patch+json";

std::string pod_path(const runtime::PodKey& pod) {
  return "/api/v1/namespaces/" + pod.namespace_name + "/pods/" + pod.name;
}

// The status without the times at which it was checked.
sync::NodeStatus without_heartbeats(sync::NodeStatus status) {
  for (sync::NodeCondition& condition : status.conditions) condition.last_heartbeat_time.reset();
  return status;
}

// The API server or the link failed, so the write is worth another try.
bool is_worth_repeating(const Answer& answer) {
  return answer.status == 0 || answer.status >= 500 || answer.status == too_many;
}

}  // namespace

Kubelet::Kubelet(Engine& engine, const Site& site, std::string name, KubeletApi& api,
                 const NodeClock& clock, ProfileOf profile_of, NodeObserver& observer)
    : engine_(engine),
      site_(site),
      name_(std::move(name)),
      api_(api),
      clock_(clock),
      profile_of_(std::move(profile_of)),
      observer_(observer),
      containers_(engine, clock,
                  [this](const std::string& uid, std::string_view state, int restarts) {
                    observer_.container_is(name_, uid, state, restarts);
                    settle_soon();
                  }) {}

// ------------------------------------------------------------------------------------- process

void Kubelet::start() {
  if (std::exchange(running_, true)) return;
  runtime_.emplace(runtime::RuntimeConfig{.node = {.node_name = name_}});
  for (const auto& [uid, record] : records_) runtime_->adopt(record, engine_.now());
  desired_ = runtime::NeverReceived{};
  known_.clear();
  reports_.clear();
  sending_.clear();
  posted_at_.reset();
  timer_.clear();
  settling_ = false;
  enroll({});
  api_.follow_pods(*this);
  settle_soon();
}

void Kubelet::kill() {
  if (!std::exchange(running_, false)) return;
  api_.unfollow_pods();
  life_.end();
  runtime_.reset();
}

void Kubelet::power_off() {
  kill();
  containers_.power_off();
  for (auto& [uid, record] : records_) record.accepted.reset();
}

// ---------------------------------------------------------------------------------------- node

void Kubelet::enroll(Duration pause) {
  engine_.after(pause, life_, [this, pause] {
    sync::Node node = make_node(site_, name_);
    status_ = healthy_status(site_, status_, clock_.wall());
    node.status = status_;
    Request request{.kind = RequestKind::other,
                    .verb = "POST",
                    .path = "/api/v1/nodes",
                    .content_type = "application/json",
                    .body = sync::wire::encode_bytes(node)};
    api_.write(life_, std::move(request), [this, pause](const Answer& answer) {
      if (!answer.is_ok() && answer.status != conflict) {
        return enroll(std::min(enroll_pause_max, pause * 2 + std::chrono::milliseconds(200)));
      }
      renew_lease();
      post_status();
    });
  });
}

void Kubelet::renew_lease() {
  if (api_.link().quiet().is_on()) {
    return api_.link().quiet().put_off(life_, [this, due = engine_.now()] {
      engine_.at(next_in_rhythm(due, lease_interval, engine_.now()), life_,
                 [this] { renew_lease(); });
    });
  }
  api_.renew_lease(life_, clock_.wall(), [](const Answer&) {});
  const Duration jitter = api_.link().random(Draw::lease).jitter(std::chrono::milliseconds(400));
  engine_.after(lease_interval + jitter, life_, [this] { renew_lease(); });
}

// Every ten seconds: posts the status if it differs from the Node's, or after five minutes.
void Kubelet::post_status() {
  if (api_.link().quiet().is_on()) {
    return api_.link().quiet().put_off(life_, [this, due = engine_.now()] { resume_status(due); });
  }
  engine_.after(status_interval, life_, [this] { post_status(); });
  const NodePtr known = api_.node();
  const sync::NodeStatus& before = known ? known->status : status_;
  const sync::NodeStatus now = healthy_status(site_, before, clock_.wall());
  const bool changed = without_heartbeats(now) != without_heartbeats(before);
  if (posted_at_ && !changed && engine_.now() - *posted_at_ < report_interval) return;
  status_ = now;
  const json::object body{{"status", sync::wire::encode_part(status_)}};
  Request request{.kind = RequestKind::node_status,
                  .verb = "PATCH",
                  .path = "/api/v1/nodes/" + name_ + "/status",
                  .content_type = std::string(strategic),
                  .body = sync::wire::serialize(body)};
  api_.write(life_, std::move(request), [this](const Answer& answer) {
    if (answer.is_ok()) posted_at_ = engine_.now();
  });
}

// `due`: when the status was to be looked at last. The statuses since then count as posted.
void Kubelet::resume_status(MonoTime due) {
  constexpr Duration posts = report_interval + status_interval;  // the next look after it
  if (posted_at_ && engine_.now() > *posted_at_) {
    *posted_at_ += (engine_.now() - *posted_at_) / posts * posts;
  }
  engine_.at(next_in_rhythm(due, status_interval, engine_.now()), life_, [this] { post_status(); });
}

// ---------------------------------------------------------------------------------------- pods

void Kubelet::take_list(std::vector<PodPtr> pods) {
  known_.clear();
  for (PodPtr& pod : pods) {
    std::string key = key_of(*pod);
    known_[std::move(key)] = std::move(pod);
  }
  desired_ = runtime::CompletePods{};
  settle_soon();
}

void Kubelet::take_change(ChangeType type, PodPtr pod) {
  const std::string key = key_of(*pod);
  if (type == ChangeType::deleted) {
    known_.erase(key);
  } else {
    known_[key] = std::move(pod);
  }
  settle_soon();
}

// One settling for all that happens at the same time.
void Kubelet::settle_soon() {
  if (!running_ || std::exchange(settling_, true)) return;
  engine_.after({}, life_, [this] {
    settling_ = false;
    settle();
  });
}

void Kubelet::settle() {
  if (auto* complete = std::get_if<runtime::CompletePods>(&desired_)) {
    complete->pods.clear();
    for (const auto& [key, pod] : known_) complete->pods.push_back(pod);
  }
  for (int round = 0; round < rounds_max; ++round) {
    const auto actions =
        runtime_->step({engine_.now(), clock_.wall(), desired_, containers_.observed(), *this});
    for (const runtime::RuntimeAction& action : actions) {
      std::visit([this](const auto& one) { perform(one); }, action);
    }
    if (actions.empty()) break;
  }
  send_reports();
  timer_.set(engine_, life_, runtime_->deadline(), [this] { settle_soon(); });
}

void Kubelet::perform(const runtime::RecordPod& action) {
  records_[action.record.pod->metadata.uid] = action.record;
}

void Kubelet::perform(const runtime::StartContainer& action) {
  const auto record = records_.find(action.pod.uid);
  CHECK(record != records_.end());
  containers_.start(action, profile_of_(*record->second.pod));
}

std::string_view Kubelet::reason_to_stop(const std::string& uid) const {
  const auto record = records_.find(uid);
  if (record == records_.end()) return "no record";
  if (!record->second.stopping) return "restarted";
  switch (*record->second.stopping) {
    case runtime::StopCause::completed:
      return "completed";
    case runtime::StopCause::deadline:
      return "deadline";
    case runtime::StopCause::deleted:
      return "deleted";
    case runtime::StopCause::removed:
      return "removed";
  }
  UNREACHABLE();
}

void Kubelet::perform(const runtime::SignalContainer& action) {
  observer_.pod_stops(name_, action.uid, reason_to_stop(action.uid));
  const auto record = records_.find(action.uid);
  const bool known = record != records_.end();
  containers_.signal(action, known ? profile_of_(*record->second.pod) : PodProfile{});
}

void Kubelet::perform(const runtime::ReportStatus& action) {
  Report& report = reports_[action.pod.uid];
  report.pod = action.pod;
  report.patch = runtime::status_patch(action.pod, action.status);
}

void Kubelet::perform(const runtime::FinalDelete& action) {
  Report& report = reports_[action.pod.uid];
  report.pod = action.pod;
  report.remove = true;
}

void Kubelet::perform(const runtime::RemovePod& action) {
  observer_.pod_stops(name_, action.uid, reason_to_stop(action.uid));
  containers_.forget(action.uid);
  records_.erase(action.uid);
  reports_.erase(action.uid);
}

// ------------------------------------------------------------------------------------- reports

void Kubelet::send_reports() {
  for (auto& [uid, report] : reports_) {
    const bool due = report.patch || report.remove;
    if (due && report.pause == Duration::zero()) send(uid);
  }
}

// The latest status of the pod, then its deletion; one request at a time for each pod.
void Kubelet::send(const std::string& uid) {
  const auto found = reports_.find(uid);
  if (found == reports_.end() || !sending_.insert(uid).second) return;
  Report& report = found->second;
  report.pause = {};
  const bool removal = !report.patch;
  if (removal && !report.remove) {
    sending_.erase(uid);
    return;
  }
  Request request{.kind = RequestKind::pod_status,
                  .verb = "PATCH",
                  .path = pod_path(report.pod) + "/status",
                  .content_type = std::string(strategic)};
  if (removal) {
    const json::object options{{"kind", "DeleteOptions"},
                               {"apiVersion", "v1"},
                               {"gracePeriodSeconds", 0},
                               {"preconditions", json::object{{"uid", uid}}}};
    request = {.kind = RequestKind::removal,
               .verb = "DELETE",
               .path = pod_path(report.pod),
               .content_type = "application/json",
               .body = sync::wire::serialize(options)};
  } else {
    request.body = *std::exchange(report.patch, {});
  }
  const std::string sent = request.body;
  api_.write(life_, std::move(request), [this, uid, removal, sent](const Answer& answer) {
    sending_.erase(uid);
    const auto waiting = reports_.find(uid);
    if (waiting == reports_.end()) return;
    // A newer status replaces the one that was not accepted.
    const bool again = is_worth_repeating(answer);
    if (again && !removal && !waiting->second.patch) waiting->second.patch = sent;
    settle_report(uid, removal, answer);
  });
}

void Kubelet::settle_report(const std::string& uid, bool removal, const Answer& answer) {
  Report& report = reports_.at(uid);
  if (is_worth_repeating(answer)) {
    report.pause = std::clamp(report.pause * 2, retry_min, retry_max);
    engine_.after(report.pause, life_, [this, uid] { send(uid); });
    return;
  }
  if (removal) report.remove = false;
  if (!report.patch && !report.remove) {
    reports_.erase(uid);
    return;
  }
  send(uid);
}

}  // namespace holdfast::agent::lab::sim
