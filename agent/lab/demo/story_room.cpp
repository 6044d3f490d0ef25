// The preemption scene: a node is full, and a pod with the highest priority must run there. The
// pods with lower priority are preempted and run elsewhere; a pod with a disruption budget stays.

#include <algorithm>

#include "agent/lab/demo/story.h"
#include "agent/lab/demo/words.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;

constexpr auto shown = 1s;  // the end state is kept this long, so that the report shows it

bool runs_on(const Scene& scene, const std::string& node, const std::string& name) {
  const auto pods = scene.on(node);
  return std::any_of(pods.begin(), pods.end(), [&name](const PodSeen& pod) {
    return pod.name == name && pod.ready && !pod.deleting;
  });
}

// How many of the lesser pods are ready on the node.
std::ptrdiff_t lesser_on(const Scene& scene, const std::string& node, const Cast& cast) {
  const auto pods = scene.on(node);
  return std::count_if(pods.begin(), pods.end(), [&cast](const PodSeen& pod) {
    return pod.name.starts_with(cast.lesser + "-") && pod.ready && !pod.deleting;
  });
}

}  // namespace

asio::awaitable<Status> Story::fill_node() {
  const auto offered = co_await stage_.milli_cpu(cast_.connected);
  if (!offered) co_return fail(offered.error());
  milli_cpu_ = *offered;
  const std::vector<std::string> others = {cast_.autonomous, cast_.ordinary};
  say("fill " + cast_.connected + ": the other nodes are cordoned meanwhile");
  Status done;
  for (const std::string& node : others) {
    done = co_await stage_.cordon(node, true);
    if (!done) co_return done;
  }
  std::vector<Manifest> objects = crowd(milli_cpu_, cast_);
  done = co_await stage_.post(std::move(objects));
  if (!done) co_return done;
  const Cast cast = cast_;
  Condition full = [cast](const Scene& scene) {
    return runs_on(scene, cast.connected, cast.guarded) &&
           lesser_on(scene, cast.connected, cast) == cast.lesser_replicas;
  };
  done = co_await until("a full node", 15s, full);
  if (!done) co_return done;
  for (const std::string& node : others) {
    done = co_await stage_.cordon(node, false);
    if (!done) co_return done;
  }
  act(Deed::crowded, {cast_.connected},
      cast_.connected + " is full: " +
          plural(static_cast<std::size_t>(cast_.lesser_replicas), cast_.lesser + " pod") +
          " and one under a disruption budget",
      "they request two fifths of its cores each, and one fifth");
  co_return done;
}

asio::awaitable<Status> Story::make_room() {
  act(Deed::vip_posted, {cast_.connected},
      "a pod of priority 1000 must run on " + cast_.connected + " and needs three fifths",
      "the cheapest victims would be one of each kind; the budget forbids that");
  std::vector<Manifest> objects = {important_pod(milli_cpu_, cast_)};
  Status done = co_await stage_.post(std::move(objects));
  if (!done) co_return done;
  const At posted = recorder_.now();
  const Cast cast = cast_;
  Condition placed = [cast](const Scene& scene) {
    const std::ptrdiff_t elsewhere =
        lesser_on(scene, cast.autonomous, cast) + lesser_on(scene, cast.ordinary, cast);
    return runs_on(scene, cast.connected, cast.important) &&
           runs_on(scene, cast.connected, cast.guarded) && elsewhere == cast.lesser_replicas;
  };
  done = co_await until("room for " + cast_.important, 20s, placed);
  if (!done) co_return done;
  const auto& pods = recorder_.history().pods;
  const bool promised = std::any_of(pods.begin(), pods.end(), [&cast](const PodSeen& pod) {
    return pod.name == cast.important && pod.nominated == cast.connected;
  });
  if (promised) say(cast_.important + " was nominated to " + cast_.connected + " at once");
  say("it runs there; the " + cast_.lesser + " pods run on other nodes, " + cast_.guarded +
      " has stayed");
  act(Deed::room_made, {cast_.connected}, "room made in " + seconds(recorder_.now() - posted), "");
  co_await loop::wait_for(shown);
  co_return done;
}

}  // namespace holdfast::agent::demo
