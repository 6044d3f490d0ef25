// Dry runs on several threads find what one thread finds.

#include "sync/schedule/preemption/dry_run.h"

#include <gtest/gtest.h>

#include <thread>

#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_node;
using test::make_pod;

// A ForEach that runs each piece of work on its own thread.
void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(DryRunOnThreads, FindsWhatOneThreadFinds) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    Cluster cluster;
    for (int i = 0; i < 300; ++i) {
      const std::string name = "n" + std::to_string(1000 + i);
      Node node = make_node(name, 2);
      node.metadata.labels.set("zone", random.below(2) == 0 ? "a" : "b");
      cluster.set_node(node);
      for (int p = 0; p < 4; ++p) {
        Pod pod = make_pod(name + "-" + std::to_string(p), static_cast<int>(random.below(3)) * 600,
                           "500", name);
        pod.metadata.labels.set("app", random.below(2) == 0 ? "a" : "b");
        cluster.set_pod(view_of(std::move(pod), cluster.symbols()));
      }
    }
    Pod incoming = make_pod("p", 1000, "800");
    incoming.metadata.labels.set("app", "a");
    test::add_spread(incoming, "zone", "app", "b");
    test::add_anti_affinity(incoming, test::term("app", "b", "host"));
    const PodRef pod = view_of(incoming, cluster.symbols());
    const Budgets budgets({test::make_budget("b", "app", "a", 1)});
    const Nominator nominator;
    const auto all = plugins();
    const Chain chain(all, cluster, *pod);
    const std::size_t offset = random.below(300);
    for (const std::size_t limit : {1UL, 20UL, 300UL}) {
      VictimSearch search(chain, nominator, budgets, test::wall_now);
      const DryRun one = dry_run(search, cluster.nodes(), offset, limit);
      const DryRun many = dry_run(DryRunView{chain, nominator, budgets, test::wall_now},
                                  cluster.nodes(), offset, limit, on_threads);
      EXPECT_EQ(one.evaluated, many.evaluated);
      EXPECT_EQ(one.errors, many.errors);
      EXPECT_EQ(fit_error(300, one.fit_statuses), fit_error(300, many.fit_statuses));
      ASSERT_EQ(one.candidates.size(), many.candidates.size());
      for (std::size_t i = 0; i < one.candidates.size(); ++i) {
        EXPECT_EQ(one.candidates[i].node, many.candidates[i].node);
        EXPECT_EQ(one.candidates[i].victims, many.candidates[i].victims);
        EXPECT_EQ(one.candidates[i].violations, many.candidates[i].violations);
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
