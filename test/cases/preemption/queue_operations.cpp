// Operations on the scheduling queue and on the handling of failed attempts.

#include "sync/schedule/failure.h"
#include "sync/schedule/queue/queue.h"
#include "test/cases/preemption/operations.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

void backoff(const Operation& op) {
  schedule::QueueOptions options;
  const auto millis = [&op](std::string_view key) {
    return std::chrono::milliseconds(integer_of(needs(op.given, key), {1, 1'000'000'000}));
  };
  options.backoff_initial = millis("initialMillis");
  options.backoff_max = millis("maxMillis");
  const auto attempts = static_cast<int>(integer_of(needs(op.given, "attempts"), {0, 1'000'000}));
  const Duration found = schedule::backoff(attempts, options);
  op.check.equal("millis", std::chrono::duration_cast<std::chrono::milliseconds>(found).count());
}

MonoTime queued_at(const json::object& side) {
  return MonoTime(time_in(side, "timestamp").time_since_epoch());
}

void queue_less(const Operation& op) {
  Input input(op.given);
  const json::object& a = needs_object(op.given, "a");
  const json::object& b = needs_object(op.given, "b");
  const bool before = schedule::pops_before(*input.pod(needs(a, "pod")), queued_at(a),
                                            *input.pod(needs(b, "pod")), queued_at(b));
  op.check.equal("aBeforeB", before);
}

json::value condition_json(const sync::PodCondition& condition) {
  const bool now = condition.last_transition_time == case_now;
  return json::object{{"type", condition.type},
                      {"status", condition.status},
                      {"reason", condition.reason},
                      {"message", condition.message},
                      {"lastTransitionTime", now ? "now" : "keep"}};
}

json::value patch_json(const std::optional<schedule::PatchPodStatus>& patch) {
  if (!patch) return nullptr;
  json::object out;
  if (patch->condition) out["condition"] = condition_json(*patch->condition);
  if (patch->nominated_node) {
    json::value node = nullptr;
    if (!patch->nominated_node->empty()) node = json::value(*patch->nominated_node);
    out["nominatedNodeName"] = std::move(node);
  }
  return out;
}

schedule::FailedAttempt read_attempt(Input& input) {
  const json::object& result = needs_object(input.given, "result");
  schedule::FailedAttempt attempt{input.pod_at("pod"), read_status(needs(input.given, "result")),
                                  std::nullopt, std::nullopt};
  if (attempt.fit_status.ok()) throw Malformed(result, "code", "expected the code of a failure");
  if (const json::value* error = find(result, "fitError")) {
    attempt.diagnosis = read_diagnosis(object_of(*error));
  }
  const json::object& nominating = object_in(input.given, "nominating");
  if (text(nominating, "mode") == "override")
    attempt.nomination = text_of(needs(nominating, "node"));
  return attempt;
}

void handle_failure(const Operation& op) {
  Input input(op.given);
  const schedule::FailedAttempt attempt = read_attempt(input);
  const json::value* live = find(op.given, "livePod");
  const auto plan = schedule::plan_failure(attempt, live == nullptr ? nullptr : input.pod(*live),
                                           input.nominator, case_now);
  op.check.equal("reason", json::value(plan.reason));
  op.check.equal("requeued", plan.requeue);
  op.check.set("unschedulablePlugins", {plan.unschedulable.begin(), plan.unschedulable.end()});
  op.check.set("pendingPlugins", {plan.pending.begin(), plan.pending.end()});
  op.check.equal("event", json::object{{"type", plan.event.type},
                                       {"reason", plan.event.reason},
                                       {"action", plan.event.action},
                                       {"note", plan.event.note}});
  op.check.equal("statusPatch", patch_json(plan.patch));
  const std::string node = input.nominator.node_of(attempt.pod->uid());
  op.check.equal("nominatorNode", node.empty() ? json::value(nullptr) : json::value(node));
}

// Hints that answer "queue" if the case lists the event for the plugin, else "unrelated".
class ListedHints final : public schedule::Hints {
 public:
  explicit ListedHints(const json::object& lists) {
    for (const auto& field : lists) {
      for (const json::value& event : array_of(field.value())) {
        const std::string_view name = text_of(event);
        listed_.emplace(std::string(field.key().data(), field.key().size()), name);
      }
    }
  }

  bool registered(const schedule::Event& event) const override {
    if (event.kind == schedule::EventKind::wildcard) return true;
    for (const auto& [plugin, name] : listed_) {
      if (name == event.label) return true;
    }
    return false;
  }
  schedule::Hint ask(std::string_view plugin, const schedule::PodView&,
                     const schedule::Event& event) const override {
    const bool listed = listed_.contains({std::string(plugin), std::string(event.label)});
    return listed ? schedule::Hint::queue : schedule::Hint::unrelated;
  }

 private:
  std::set<std::pair<std::string, std::string>> listed_;
};

// Runs the steps of a case on one queue.
class QueueTrace {
 public:
  explicit QueueTrace(Input& input)
      : input_(input),
        hints_(object_in(input.given, "hints")),
        queue_(hints_, nullptr, {}, MonoTime{}) {}

  // Performs a step. Returns the popped pod, if any, and the queue in which each pod is then.
  json::object step(const json::object& step);

 private:
  schedule::Event event(const json::value& name) const;
  void perform(const json::object& step, json::object& seen);
  // The pod that the step names by its uid.
  schedule::PodRef known_pod(const json::object& step) const;
  void fail_pod(const json::object& step);
  void update(const json::object& step);

  Input& input_;
  ListedHints hints_;
  schedule::Queue queue_;
  MonoTime now_{};
  std::map<std::string, schedule::PodRef> pods_;
};

// An event does not own its label. Here the label is a view of the case, which outlives the queue.
schedule::Event QueueTrace::event(const json::value& name) const {
  const std::string_view label = text_of(name);
  schedule::Event event;
  event.kind = label == "*" ? schedule::EventKind::wildcard : schedule::EventKind::node_add;
  event.label = label;
  return event;
}

schedule::PodRef QueueTrace::known_pod(const json::object& step) const {
  const auto found = pods_.find(needs_text(step, "pod"));
  if (found == pods_.end()) throw Malformed(step, "pod", "no earlier step adds this pod");
  return found->second;
}

void QueueTrace::fail_pod(const json::object& step) {
  const Names plugins = names_in(step, "plugins");
  const Names pending = names_in(step, "pending");
  const auto done = queue_.requeue(now_, known_pod(step), {plugins.begin(), plugins.end()},
                                   {pending.begin(), pending.end()});
  if (!done) throw Malformed(step, "pod", done.error().what);
}

void QueueTrace::update(const json::object& step) {
  const schedule::PodRef pod = input_.pod(needs(step, "pod"));
  pods_[pod->uid()] = pod;
  std::vector<schedule::Event> events;
  for (const json::value& name : array_in(step, "events")) {
    events.push_back(event(name));
    events.back().pod = pod;
  }
  queue_.update(now_, pod, events);
}

void QueueTrace::perform(const json::object& step, json::object& seen) {
  const std::string op = needs_text(step, "op");
  if (op == "add") {
    const schedule::PodRef pod = input_.pod(needs(step, "pod"));
    pods_[pod->uid()] = pod;
    queue_.add(now_, pod);
  } else if (op == "pop") {
    const auto popped = queue_.pop();
    seen["popped"] = popped ? json::value(popped->pod->name()) : json::value(nullptr);
  } else if (op == "fail") {
    fail_pod(step);
  } else if (op == "done") {
    queue_.done(known_pod(step)->uid());
  } else if (op == "event") {
    queue_.happened(now_, event(needs(step, "event")));
  } else if (op == "update") {
    update(step);
  } else if (op == "activate") {
    queue_.activate(now_, known_pod(step)->uid());
  } else if (op == "delete") {
    queue_.remove(known_pod(step)->uid());
  } else if (op == "advance") {
    const std::int64_t seconds = integer_of(needs(step, "seconds"), {0, 100'000});
    for (std::int64_t i = 0; i < seconds; ++i) {
      now_ += std::chrono::seconds(1);
      if (queue_.deadline() <= now_) queue_.tick(now_);
    }
  } else {
    throw Malformed(step, "op", "unknown step " + op);
  }
}

json::object QueueTrace::step(const json::object& step) {
  json::object seen;
  perform(step, seen);
  queue_.check_invariants();
  json::object queues;
  for (const auto& [uid, pod] : pods_) {
    if (const auto place = queue_.place(uid)) queues[uid] = to_string(*place);
  }
  seen["queues"] = std::move(queues);
  return seen;
}

void queue_trace(const Operation& op) {
  Input input(op.given);
  QueueTrace trace(input);
  json::array seen;
  for (const json::value& step : needs_elements(op.given, "steps")) {
    seen.push_back(trace.step(object_of(step)));
  }
  op.check.equal("observations", seen);
}

}  // namespace

bool queue_operation(const Operation& op) {
  if (op.name == "backoff") {
    backoff(op);
  } else if (op.name == "queueLess") {
    queue_less(op);
  } else if (op.name == "handleFailure") {
    handle_failure(op);
  } else if (op.name == "queueTrace") {
    queue_trace(op);
  } else {
    return false;
  }
  return true;
}

}  // namespace holdfast::cases
