// The second act: two sites of many nodes. One loses its link and is evicted node by node. Then the
// other one loses its link, too: the cloud assumes that the fault is its own and evicts nothing.

#include <algorithm>

#include "agent/lab/demo/script.h"
#include "agent/lab/demo/words.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;

bool all_are(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes,
             const std::string& ready) {
  return std::all_of(nodes.begin(), nodes.end(), [&snapshot, &ready](const std::string& node) {
    return snapshot.ready(node) == ready;
  });
}

std::ptrdiff_t tainted(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes,
                       const std::string& ending) {
  return std::count_if(nodes.begin(), nodes.end(), [&snapshot, &ending](const std::string& node) {
    return snapshot.tainted(node, ending);
  });
}

// How many pods of these nodes are not being deleted.
std::size_t pods_kept(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes) {
  std::size_t count = 0;
  for (const std::string& node : nodes) {
    const auto pods = snapshot.on(node);
    count += static_cast<std::size_t>(
        std::count_if(pods.begin(), pods.end(), [](const PodSeen& pod) { return !pod.deleting; }));
  }
  return count;
}

}  // namespace

asio::awaitable<Status> DemoScript::open_sites() {
  screen_.hide();
  screen_.title("Second act: two sites");
  act(DemoEvent::sites_open, {}, "two sites join",
      plural(static_cast<std::size_t>(setup_.site_nodes), "node") +
          " each; they only renew leases and report status: this act is about the cloud");
  Status done = co_await processes_.remove_agents();
  if (!done) co_return done;
  done = co_await processes_.open_sites();
  if (!done) co_return done;
  shown_ = setup_.nodes_of_both();
  const auto nodes = shown_;
  Condition steady = [nodes](const ClusterSnapshot& snapshot) {
    return all_are(snapshot, nodes, "True") && tainted(snapshot, nodes, "") == 0 &&
           pods_kept(snapshot, nodes) == nodes.size();
  };
  co_return co_await until("both sites Ready", 15s, steady);
}

asio::awaitable<Status> DemoScript::cut_first_site() {
  const auto nodes = setup_.nodes_of(setup_.first_site);
  act(DemoEvent::site_cut, nodes, "black-hole the link of site " + setup_.first_site,
      "one zone is silent, the other one healthy: the silent nodes are evicted, but slowly");
  processes_.sites().cut(setup_.first_site);
  Condition unknown = [nodes](const ClusterSnapshot& snapshot) {
    return all_are(snapshot, nodes, "Unknown");
  };
  Status done = co_await until("the site's nodes Unknown", 20s, unknown);
  if (!done) co_return done;
  say("all of its nodes are Unknown");
  Condition begun = [nodes](const ClusterSnapshot& snapshot) {
    return tainted(snapshot, nodes, ":NoExecute") >= 1;
  };
  done = co_await until("the first NoExecute taint", 10s, begun);
  if (done) say("the first of them is tainted NoExecute; the others wait for their turn");
  co_return done;
}

asio::awaitable<Status> DemoScript::cut_both_sites() {
  const auto nodes = setup_.nodes_of_both();
  act(DemoEvent::all_cut, setup_.nodes_of(setup_.other_site),
      "black-hole the link of site " + setup_.other_site + ", too",
      "if all nodes are silent, the fault is probably on the cloud's side");
  processes_.sites().cut(setup_.other_site);
  Condition dark = [nodes](const ClusterSnapshot& snapshot) {
    return all_are(snapshot, nodes, "Unknown") && tainted(snapshot, nodes, ":NoExecute") == 0;
  };
  Status done = co_await until("nodes that are all Unknown, and none NoExecute", 25s, dark);
  if (!done) co_return done;
  recorder_.note(
      Mark{.event = DemoEvent::all_unknown, .nodes = nodes, .text = "all nodes Unknown"});
  say("every node is Unknown, and all NoExecute taints are removed");
  // Longer than the pods tolerate the taint: a pod that is to be evicted is evicted by then.
  const DemoTime patience = recorder_.now() + 2 * setup_.site_patience;
  Condition waited = [this, patience](const ClusterSnapshot& /*snapshot*/) {
    return recorder_.now() >= patience;
  };
  done = co_await until("the end of the toleration time", 2 * setup_.site_patience + 5s, waited);
  const auto kept = pods_kept(recorder_.snapshot(), nodes);
  if (done) say(std::to_string(kept) + " of " + plural(nodes.size(), "pod") + " are kept");
  co_return done;
}

asio::awaitable<Status> DemoScript::restore_sites() {
  const auto nodes = setup_.nodes_of_both();
  act(DemoEvent::all_restored, nodes, "restore both links", "");
  processes_.sites().restore(setup_.first_site);
  processes_.sites().restore(setup_.other_site);
  Condition well = [nodes](const ClusterSnapshot& snapshot) {
    return all_are(snapshot, nodes, "True") && tainted(snapshot, nodes, "") == 0;
  };
  const Status done = co_await until("both sites' recovery", 25s, well);
  if (done) act(DemoEvent::closed, nodes, "both sites are Ready and untainted", "");
  co_return done;
}

}  // namespace holdfast::agent::demo
