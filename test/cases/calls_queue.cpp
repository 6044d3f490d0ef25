// The `call` steps on queues: "queue." is the rate-limited queue, "timed." the timed one.

#include <utility>

#include "test/cases/calls.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;

namespace {

// The rate of a queue without a limiter, in tokens per second: several tokens are available at the
// same instant.
constexpr double always = 1e12;

// A name that is tried again at once would be taken again without end.
Duration retry_after(const json::object& reply) {
  const Duration wait = duration(reply, "retryAfter");
  if (wait < Duration::zero()) throw Malformed(reply, "retryAfter", "is negative");
  return wait;
}

const json::object* script_of(const json::array& script, const std::string& name) {
  for (const json::value& line : script) {
    if (needs_text(object_of(line), "value") == name) return &line.get_object();
  }
  return nullptr;
}

}  // namespace

json::value Calls::queue_call(MonoTime now, const json::object& call) {
  const std::string fn = needs_text(call, "fn").substr(std::string_view("queue.").size());
  const json::object& args = object_in(call, "args");
  if (fn == "new") {
    const bool limited = text(args, "limiter") == "bucket";
    const double rate = limited ? number_of(needs(args, "qps")) : always;
    queue_ = std::make_unique<sync::pacing::RateQueue>(now, rate);
    return json::value(nullptr);
  }
  if (!queue_) throw Malformed(needs(call, "fn"), "queue." + fn + " before queue.new");
  if (fn == "add") return json::value(queue_->add(now, needs_text(args, "value")));
  if (fn == "remove") return json::value(queue_->remove(needs_text(args, "value")));
  if (fn == "setRemove") {
    queue_->forget(needs_text(args, "value"));
    return json::value(nullptr);
  }
  if (fn == "clear") {
    queue_->clear();
    return json::value(nullptr);
  }
  if (fn == "swapLimiter") {
    queue_->set_rate(now, number_of(needs(args, "qps")));
    return json::value(nullptr);
  }
  if (fn == "limiter") {
    const TokenBucket& limiter = queue_->limiter();
    if (limiter.stopped()) return json::object{{"stopped", true}};
    return json::object{{"stopped", false}, {"qps", limiter.rate()}};
  }
  if (fn == "contents") {
    const auto waiting = queue_->waiting();
    const auto& guarded = queue_->guarded();
    return json::object{{"queue", json::array(waiting.begin(), waiting.end())},
                        {"set", sorted_array({guarded.begin(), guarded.end()})}};
  }
  if (fn == "try") return try_queue(now, array_in(args, "script"));
  throw Malformed(needs(call, "fn"), "unknown function queue." + fn);
}

json::array Calls::try_queue(MonoTime now, const json::array& script) {
  json::array seen;
  std::map<std::string, std::size_t> turns;
  while (const auto name = queue_->take(now)) {
    seen.emplace_back(*name);
    const json::object* line = script_of(script, *name);
    const json::array none;
    const json::array& replies = line == nullptr ? none : array_in(*line, "replies");
    const std::size_t turn = turns[*name]++;
    const json::object nothing;
    const json::object& reply = turn < replies.size() ? object_of(replies[turn]) : nothing;
    for (const json::object* source : {&reply, line}) {
      const json::value* removed = source == nullptr ? nullptr : find(*source, "removeDuring");
      if (removed == nullptr || *removed == json::value(false)) continue;
      queue_->remove(*removed == json::value(true) ? *name : std::string(text_of(*removed)));
    }
    if (flag(reply, "done", true)) {
      queue_->done(*name);
    } else {
      queue_->again(now, *name, retry_after(reply));
    }
  }
  return seen;
}

json::value Calls::timed_call(MonoTime now, const json::object& call) {
  const std::string fn = needs_text(call, "fn").substr(std::string_view("timed.").size());
  const json::object& args = object_in(call, "args");
  for (std::string& key : timed_.take(now)) runs_.push_back(std::move(key));
  if (fn == "runs") return sorted_array(runs_);
  if (fn == "pending") return sorted_array(timed_.keys());
  const std::string key = needs_text(args, "key");
  const sync::pacing::TimedQueue::Entry entry{MonoTime(duration(args, "createdAt")),
                                              MonoTime(duration(args, "fireAt"))};
  if (fn == "add") return json::value(timed_.add(now, key, entry));
  if (fn == "cancel") return json::value(timed_.cancel(key));
  if (fn == "update") {
    switch (timed_.update(now, key, entry)) {
      case sync::pacing::TimedQueue::Update::added:
        return json::value("added");
      case sync::pacing::TimedQueue::Update::kept:
        return json::value("kept-same");
      case sync::pacing::TimedQueue::Update::moved:
        return json::value("moved");
    }
  }
  if (fn == "fireAt") {
    const auto* found = timed_.find(key);
    if (found == nullptr) return json::value(nullptr);
    return json::value(std::chrono::duration<double>(found->fire.time_since_epoch()).count());
  }
  throw Malformed(needs(call, "fn"), "unknown function timed." + fn);
}

}  // namespace holdfast::cases
