// The preemption part: a node is full, and a pod with the highest priority must run there. The
// pods with lower priority are preempted and run elsewhere; a pod with a disruption budget stays.

#include <algorithm>

#include "agent/lab/demo/script.h"
#include "agent/lab/demo/words.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;

constexpr auto shown = 1s;  // the end state is kept this long, so that the report shows it

bool runs_on(const ClusterSnapshot& snapshot, const std::string& node, const std::string& name) {
  const auto pods = snapshot.on(node);
  return std::any_of(pods.begin(), pods.end(), [&name](const PodSeen& pod) {
    return pod.name == name && pod.ready && !pod.deleting;
  });
}

// How many of the lesser pods are ready on the node.
std::ptrdiff_t lesser_on(const ClusterSnapshot& snapshot, const std::string& node,
                         const DemoSetup& setup) {
  const auto pods = snapshot.on(node);
  return std::count_if(pods.begin(), pods.end(), [&setup](const PodSeen& pod) {
    return pod.name.starts_with(setup.lesser + "-") && pod.ready && !pod.deleting;
  });
}

}  // namespace

asio::awaitable<Status> DemoScript::fill_node() {
  const auto offered = co_await processes_.milli_cpu(setup_.connected);
  if (!offered) co_return fail(offered.error());
  milli_cpu_ = *offered;
  const std::vector<std::string> others = {setup_.autonomous, setup_.ordinary};
  say("fill " + setup_.connected + ": the other nodes are cordoned meanwhile");
  Status done;
  for (const std::string& node : others) {
    done = co_await processes_.cordon(node, true);
    if (!done) co_return done;
  }
  std::vector<Manifest> objects = filler_pods(milli_cpu_, setup_);
  done = co_await processes_.post(std::move(objects));
  if (!done) co_return done;
  const DemoSetup setup = setup_;
  Condition full = [setup](const ClusterSnapshot& snapshot) {
    return runs_on(snapshot, setup.connected, setup.guarded) &&
           lesser_on(snapshot, setup.connected, setup) == setup.lesser_replicas;
  };
  done = co_await until("a full node", 15s, full);
  if (!done) co_return done;
  for (const std::string& node : others) {
    done = co_await processes_.cordon(node, false);
    if (!done) co_return done;
  }
  act(DemoEvent::node_full, {setup_.connected},
      setup_.connected + " is full: " +
          plural(static_cast<std::size_t>(setup_.lesser_replicas), setup_.lesser + " pod") +
          " and one under a disruption budget",
      "they request two fifths of its cores each, and one fifth");
  co_return done;
}

asio::awaitable<Status> DemoScript::make_room() {
  act(DemoEvent::vip_posted, {setup_.connected},
      "a pod of priority 1000 must run on " + setup_.connected + " and needs three fifths",
      "the cheapest victims would be one of each kind; the budget forbids that");
  std::vector<Manifest> objects = {important_pod(milli_cpu_, setup_)};
  Status done = co_await processes_.post(std::move(objects));
  if (!done) co_return done;
  const DemoTime posted = recorder_.now();
  const DemoSetup setup = setup_;
  Condition placed = [setup](const ClusterSnapshot& snapshot) {
    const std::ptrdiff_t elsewhere =
        lesser_on(snapshot, setup.autonomous, setup) + lesser_on(snapshot, setup.ordinary, setup);
    return runs_on(snapshot, setup.connected, setup.important) &&
           runs_on(snapshot, setup.connected, setup.guarded) && elsewhere == setup.lesser_replicas;
  };
  done = co_await until("room for " + setup_.important, 20s, placed);
  if (!done) co_return done;
  const auto& pods = recorder_.history().pods;
  const bool promised = std::any_of(pods.begin(), pods.end(), [&setup](const PodSeen& pod) {
    return pod.name == setup.important && pod.nominated == setup.connected;
  });
  if (promised) say(setup_.important + " was nominated to " + setup_.connected + " at once");
  say("it runs there; the " + setup_.lesser + " pods run on other nodes, " + setup_.guarded +
      " has stayed");
  act(DemoEvent::preempted, {setup_.connected}, "room made in " + seconds(recorder_.now() - posted),
      "");
  co_await loop::wait_for(shown);
  co_return done;
}

}  // namespace holdfast::agent::demo
