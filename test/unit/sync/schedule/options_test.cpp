// The switches of PluginOptions.

#include "test/unit/sync/schedule/storage_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_node;
using test::make_pod;

std::vector<std::string> names_of(const PluginOptions& options) {
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins(options)) names.emplace_back(plugin.name);
  return names;
}

TEST(PluginOptions, SayWhichPluginsThereAre) {
  const std::vector<std::string> first{"NodeUnschedulable", "NodeName", "TaintToleration"};
  const std::vector<std::string> contact{"NodeContact"};
  const std::vector<std::string> node{"NodeAffinity", "NodePorts", "NodeResourcesFit"};
  const std::vector<std::string> volumes{"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
                                         "VolumeZone"};
  const std::vector<std::string> last{"PodTopologySpread", "InterPodAffinity", "DynamicResources",
                                      "GangScheduling"};
  const std::vector<std::string> pressure{"CheckNodeMemoryPressure", "CheckNodeDiskPressure"};
  const auto all = [](const std::vector<std::vector<std::string>>& parts) {
    std::vector<std::string> names;
    for (const auto& part : parts) names.insert(names.end(), part.begin(), part.end());
    return names;
  };
  EXPECT_EQ(names_of({}), all({first, contact, node, volumes, last}));
  EXPECT_EQ(names_of({.pressure_predicates = true}),
            all({first, contact, node, volumes, last, pressure}));
  EXPECT_EQ(names_of({.volumes = false}), all({first, contact, node, last}));
  EXPECT_EQ(names_of({.contact = false}), all({first, node, volumes, last}));
}

// The status of the pod on the node, as "UnschedulableAndUnresolvable: Insufficient cpu".
std::string status_with(const PluginOptions& options, const Node& node, const Pod& pod) {
  Cluster cluster;
  cluster.set_node(node);
  test::StorageFixture().fill(cluster);
  const PodRef view = view_of(pod, cluster.symbols());
  const auto all = plugins(options);
  const Chain chain(all, cluster, *view);
  FitStatus fit_status = chain.prepared();
  if (fit_status.ok()) {
    Trial trial(chain);
    trial.start(*cluster.find(node.metadata.name));
    fit_status = chain.check(trial);
  }
  return std::string(to_string(fit_status.code)) + ": " + fit_status.message();
}

TEST(PluginOptions, SayWhatIsRejected) {
  const Pod small = make_pod("p", 0, "100");
  const Pod large = make_pod("p", 0, "9000");
  Pod claiming = small;
  test::use_claim(claiming, "c");
  Pod best_effort = small;
  best_effort.spec.containers[0].resources.requests = {};
  const auto pressed = [](const std::string& condition) {
    Node node = make_node("n");
    node.status.conditions.emplace_back().type = condition;
    node.status.conditions.back().status = "True";
    return node;
  };
  PluginOptions before_1_34;
  before_1_34.fit.hopeless_is_unresolvable = false;
  const std::string accepted = "Success: ";
  const struct {
    const char* what;
    Pod pod;
    Node node;
    PluginOptions options;
    std::string usually;
    std::string with_options;
  } rows[] = {
      {"more than the node has", large, make_node("n"), before_1_34,
       "UnschedulableAndUnresolvable: Insufficient cpu", "Unschedulable: Insufficient cpu"},
      {"a claim that does not exist",
       claiming,
       make_node("n"),
       {.volumes = false},
       "UnschedulableAndUnresolvable: persistentvolumeclaim \"c\" not found",
       accepted},
      {"memory pressure",
       best_effort,
       pressed("MemoryPressure"),
       {.pressure_predicates = true},
       accepted,
       "UnschedulableAndUnresolvable: NodeUnderMemoryPressure"},
      {"memory pressure, but the pod has requests",
       small,
       pressed("MemoryPressure"),
       {.pressure_predicates = true},
       accepted,
       accepted},
      {"disk pressure",
       small,
       pressed("DiskPressure"),
       {.pressure_predicates = true},
       accepted,
       "UnschedulableAndUnresolvable: NodeUnderDiskPressure"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(status_with({}, row.node, row.pod), row.usually) << row.what;
    EXPECT_EQ(status_with(row.options, row.node, row.pod), row.with_options) << row.what;
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
