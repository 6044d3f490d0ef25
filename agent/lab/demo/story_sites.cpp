// The second act: two sites of many nodes. One loses its link and is evicted node by node. Then the
// other one loses its link, too: the cloud assumes that the fault is its own and evicts nothing.

#include <algorithm>

#include "agent/lab/demo/story.h"
#include "agent/lab/demo/words.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;

bool all_are(const Scene& scene, const std::vector<std::string>& nodes, const std::string& ready) {
  return std::all_of(nodes.begin(), nodes.end(), [&scene, &ready](const std::string& node) {
    return scene.ready(node) == ready;
  });
}

std::ptrdiff_t tainted(const Scene& scene, const std::vector<std::string>& nodes,
                       const std::string& ending) {
  return std::count_if(nodes.begin(), nodes.end(), [&scene, &ending](const std::string& node) {
    return scene.tainted(node, ending);
  });
}

// How many pods of these nodes are not being deleted.
std::size_t pods_kept(const Scene& scene, const std::vector<std::string>& nodes) {
  std::size_t count = 0;
  for (const std::string& node : nodes) {
    const auto pods = scene.on(node);
    count += static_cast<std::size_t>(
        std::count_if(pods.begin(), pods.end(), [](const PodSeen& pod) { return !pod.deleting; }));
  }
  return count;
}

}  // namespace

asio::awaitable<Status> Story::open_sites() {
  screen_.hide();
  screen_.title("Second act: two sites");
  act(Deed::sites_open, {}, "two sites join",
      plural(static_cast<std::size_t>(cast_.site_nodes), "node") +
          " each; they only renew leases and report status: this act is about the cloud");
  Status done = co_await stage_.dismiss_agents();
  if (!done) co_return done;
  done = co_await stage_.open_sites();
  if (!done) co_return done;
  shown_ = cast_.nodes_of_both();
  const auto nodes = shown_;
  Condition steady = [nodes](const Scene& scene) {
    return all_are(scene, nodes, "True") && tainted(scene, nodes, "") == 0 &&
           pods_kept(scene, nodes) == nodes.size();
  };
  co_return co_await until("both sites Ready", 15s, steady);
}

asio::awaitable<Status> Story::darken_site() {
  const auto nodes = cast_.nodes_of(cast_.first_site);
  act(Deed::site_cut, nodes, "black-hole the link of site " + cast_.first_site,
      "one zone is silent, the other one healthy: the silent nodes are evicted, but slowly");
  stage_.sites().cut(cast_.first_site);
  Condition unknown = [nodes](const Scene& scene) { return all_are(scene, nodes, "Unknown"); };
  Status done = co_await until("the site's nodes Unknown", 20s, unknown);
  if (!done) co_return done;
  say("all of its nodes are Unknown");
  Condition begun = [nodes](const Scene& scene) {
    return tainted(scene, nodes, ":NoExecute") >= 1;
  };
  done = co_await until("the first NoExecute taint", 10s, begun);
  if (done) say("the first of them is tainted NoExecute; the others wait for their turn");
  co_return done;
}

asio::awaitable<Status> Story::darken_all() {
  const auto nodes = cast_.nodes_of_both();
  act(Deed::all_cut, cast_.nodes_of(cast_.other_site),
      "black-hole the link of site " + cast_.other_site + ", too",
      "if all nodes are silent, the fault is probably on the cloud's side");
  stage_.sites().cut(cast_.other_site);
  Condition dark = [nodes](const Scene& scene) {
    return all_are(scene, nodes, "Unknown") && tainted(scene, nodes, ":NoExecute") == 0;
  };
  Status done = co_await until("nodes that are all Unknown, and none NoExecute", 25s, dark);
  if (!done) co_return done;
  recorder_.note(Mark{.deed = Deed::all_dark, .nodes = nodes, .text = "all nodes Unknown"});
  say("every node is Unknown, and all NoExecute taints are removed");
  // Longer than the pods tolerate the taint: a pod that is to be evicted is evicted by then.
  const At patience = recorder_.now() + 2 * cast_.site_patience;
  Condition waited = [this, patience](const Scene& /*scene*/) {
    return recorder_.now() >= patience;
  };
  done = co_await until("the end of the toleration time", 2 * cast_.site_patience + 5s, waited);
  const auto kept = pods_kept(recorder_.scene(), nodes);
  if (done) say(std::to_string(kept) + " of " + plural(nodes.size(), "pod") + " are kept");
  co_return done;
}

asio::awaitable<Status> Story::light_up() {
  const auto nodes = cast_.nodes_of_both();
  act(Deed::all_restored, nodes, "restore both links", "");
  stage_.sites().restore(cast_.first_site);
  stage_.sites().restore(cast_.other_site);
  Condition well = [nodes](const Scene& scene) {
    return all_are(scene, nodes, "True") && tainted(scene, nodes, "") == 0;
  };
  const Status done = co_await until("both sites' recovery", 25s, well);
  if (done) act(Deed::closed, nodes, "both sites are Ready and untainted", "");
  co_return done;
}

}  // namespace holdfast::agent::demo
