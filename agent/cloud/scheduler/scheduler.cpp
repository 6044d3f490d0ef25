#include "agent/cloud/scheduler/scheduler.h"

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace holdfast::agent {

namespace schedule = sync::schedule;

namespace {

constexpr std::size_t writes_at_once = 32;
constexpr std::size_t events_at_once = 8;
constexpr std::size_t events_waiting = 10'000;  // more are dropped

std::string instance_of(const std::string& scheduler) {
  boost::system::error_code ec;
  const std::string host = asio::ip::host_name(ec);
  return scheduler + "-" + (ec ? std::string("unknown") : host);
}

// The number of worker threads besides the loop's thread.
std::size_t threads_of(const SchedulerPlan& plan) {
  const auto most = static_cast<std::size_t>(plan.parallelism);
  return std::min(loop::Workers::processors(), most) - 1;
}

std::vector<schedule::ExtenderSettings> rules_of(const SchedulerPlan& plan) {
  std::vector<schedule::ExtenderSettings> rules;
  for (const ExtenderPlan& extender : plan.extenders) rules.push_back(extender.rules);
  return rules;
}

}  // namespace

Result<Extenders> make_extenders(const SchedulerPlan& plan, const Clock& clock) {
  Extenders made;
  for (const ExtenderPlan& extender : plan.extenders) {
    auto caller = ExtenderCaller::make(extender, clock);
    if (!caller) return fail("extender " + extender.rules.url, caller.error());
    made.push_back(*std::move(caller));
  }
  return made;
}

Scheduler::Scheduler(asio::any_io_executor executor, const SchedulerPlan& plan, Extenders extenders,
                     ApiCaller& client, const Clock& clock, Random random)
    : clock_(clock),
      random_(random),
      extenders_(std::move(extenders)),
      workers_(threads_of(plan)),
      preemption_{.limits = plan.limits, .extenders = rules_of(plan)},
      books_({.scheduler = plan.name, .queue = plan.queue}, clock.mono()),
      finder_(schedule::plugins(plan.plugins), plan.attempt),
      metrics_(plan.name),
      writer_(client, clock, random_),
      events_(plan.name, instance_of(plan.name)),
      sender_(executor, client, clock),
      changed_(executor),
      executor_(executor),
      writes_(executor, writes_at_once),
      telling_(executor, events_at_once, events_waiting) {
  if (threads_of(plan) == 0) return;
  preemption_.for_each = [this](std::size_t count, const auto& work) {
    workers_.for_each(count, work);
  };
}

void Scheduler::change(std::function<void()> what) {
  if (attempting_) {
    inbox_.push_back(std::move(what));
  } else {
    what();
  }
  changed_.notify_all();
}

void Scheduler::end_attempt() {
  attempting_ = false;
  while (!inbox_.empty()) {
    auto next = std::move(inbox_.front());
    inbox_.pop_front();
    next();
  }
}

void Scheduler::set(const sync::Node& node) {
  change([this, node]() mutable { books_.set(clock_.mono(), std::move(node)); });
}

void Scheduler::set(const sync::Pod& pod) {
  change([this, pod]() mutable { books_.set(clock_.mono(), std::move(pod)); });
}

void Scheduler::set(const sync::PodDisruptionBudget& budget) {
  change([this, budget] { books_.set(budget); });
}

void Scheduler::set(const sync::Namespace& space) {
  change([this, space] { books_.set_namespace(space.metadata.name, space.metadata.labels); });
}

void Scheduler::remove_node(const std::string& name) {
  change([this, name] { books_.remove_node(name); });
}

void Scheduler::remove_pod(const std::string& namespace_name, const std::string& name) {
  change([this, namespace_name, name] { books_.remove_pod(clock_.mono(), namespace_name, name); });
}

void Scheduler::remove_budget(const std::string& namespace_name, const std::string& name) {
  change([this, namespace_name, name] { books_.remove_budget(namespace_name, name); });
}

void Scheduler::remove_namespace(const std::string& name) {
  change([this, name] { books_.remove_namespace(name); });
}

void Scheduler::start() {
  acting_ = true;
  changed_.notify_all();
}

asio::awaitable<void> Scheduler::run() {
  const auto yielding = asio::use_awaitable;
  for (;;) {
    if (!acting_) {
      co_await changed_.wait();
      continue;
    }
    books_.tick(clock_.mono());
    auto popped = books_.queue().pop();
    if (!popped) {
      (void)co_await changed_.wait_until(books_.deadline());
      continue;
    }
    attempting_ = true;
    co_await attempt(*std::move(popped));
    end_attempt();
    // Lets the loop read received changes and send the decisions before the next attempt.
    co_await asio::post(executor_, yielding);
  }
}

asio::awaitable<void> Scheduler::stop(MonoTime deadline) {
  acting_ = false;
  co_await writes_.stop(deadline);
  co_await telling_.stop(deadline);
}

}  // namespace holdfast::agent
