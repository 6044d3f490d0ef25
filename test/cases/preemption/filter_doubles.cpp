// The filters that cases name: our own plugins, and test doubles with fixed answers.

#include "sync/schedule/names.h"
#include "test/cases/preemption/input.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

using schedule::Cluster;
using schedule::Code;
using schedule::FitStatus;
using schedule::NodeView;
using schedule::Plugin;
using schedule::PodView;
using schedule::Prepared;
using Slots = std::span<const int>;

class Fixed final : public schedule::Filter {
 public:
  explicit Fixed(Code code) : Filter("Fake.Fixed"), code_(code) {}
  FitStatus check(const schedule::Trial&, Slots) const override { return {code_, {}}; }

 private:
  Code code_;
};

class PodNameIsNodeName final : public schedule::Filter {
 public:
  explicit PodNameIsNodeName(std::string pod)
      : Filter("Fake.PodNameIsNodeName"), pod_(std::move(pod)) {}
  FitStatus check(const schedule::Trial& trial, Slots) const override {
    return {trial.node().name() == pod_ ? Code::success : Code::unschedulable, {}};
  }

 private:
  std::string pod_;
};

// Passes every node, but fails when a pod is added to or removed from a node with a given label.
class ExtensionError final : public schedule::Filter {
 public:
  ExtensionError(std::string_view plugin, const json::object& args, std::string pod)
      : Filter(plugin), args_(args), pod_(std::move(pod)) {}
  FitStatus check(const schedule::Trial&, Slots) const override { return {}; }
  bool follows() const override { return true; }
  FitStatus change(const NodeView& node, const PodView&, int by, std::span<int>) const override {
    const std::string* value = node.labels().find(text(args_, "nodeLabel"));
    if (value == nullptr || *value != text(args_, "nodeLabelValue")) return {};
    return schedule::reject(Code::error,
                            (by > 0 ? "failed to add pod: " : "failed to remove pod: ") + pod_);
  }

 private:
  const json::object& args_;
  std::string pod_;
};

template <class Make>
Plugin plugin(std::string_view name, Make make) {
  return {name, [make](const Cluster&, const PodView& pod) { return Prepared{make(pod), {}}; }};
}

Plugin double_named(const json::object& one) {
  const std::string name = needs_text(one, "name");
  const json::object& args = object_in(one, "args");
  if (name == "Fake.AlwaysPass") {
    return plugin("Fake.AlwaysPass",
                  [](const PodView&) { return std::make_unique<Fixed>(Code::success); });
  }
  if (name == "Fake.AlwaysFail") {
    return plugin("Fake.AlwaysFail",
                  [](const PodView&) { return std::make_unique<Fixed>(Code::unschedulable); });
  }
  if (name == "Fake.Fixed") {
    const Code code = read_code(needs(args, "code"));
    return plugin("Fake.Fixed", [code](const PodView&) { return std::make_unique<Fixed>(code); });
  }
  if (name == "Fake.PodNameIsNodeName") {
    return plugin("Fake.PodNameIsNodeName", [](const PodView& pod) {
      return std::make_unique<PodNameIsNodeName>(pod.name());
    });
  }
  if (name == "Fake.PreFilterExtensionError") {
    const std::string_view as = text_of(needs(args, "plugin"));
    (void)needs_text(args, "nodeLabel");
    (void)needs_text(args, "nodeLabelValue");
    return plugin(as, [as, &args](const PodView& pod) {
      return std::make_unique<ExtensionError>(as, args, pod.name());
    });
  }
  throw Malformed(one, "name", "unknown filter " + name);
}

Plugin filter_named(const json::object& one, const schedule::FitOptions& fit) {
  const std::string name = needs_text(one, "name");
  if (name == schedule::plugin_fit) return schedule::node_resources_fit(fit);
  if (name == schedule::plugin_taints) return schedule::taint_toleration();
  if (name == schedule::plugin_node_name) return schedule::node_name();
  if (name == schedule::plugin_unschedulable) return schedule::node_unschedulable();
  if (name == schedule::plugin_ports) return schedule::node_ports();
  if (name == schedule::plugin_node_affinity) return schedule::node_affinity();
  if (name == schedule::plugin_pod_affinity) return schedule::inter_pod_affinity();
  if (name == schedule::plugin_spread) return schedule::pod_topology_spread();
  // Cases of old releases expect `unschedulable` of these predicates.
  if (name == schedule::plugin_memory_pressure) {
    return schedule::memory_pressure(Code::unschedulable);
  }
  if (name == schedule::plugin_disk_pressure) return schedule::disk_pressure(Code::unschedulable);
  return double_named(one);
}

}  // namespace

std::vector<Plugin> read_filters(const json::object& given, Behaviour behaviour) {
  const schedule::FitOptions fit = read_fit_options(given, behaviour);
  std::vector<Plugin> all;
  for (const json::value& each : array_in(given, "filters")) {
    all.push_back(filter_named(object_of(each), fit));
  }
  return all;
}

schedule::FitOptions read_fit_options(const json::object& given, Behaviour behaviour) {
  schedule::FitOptions fit;
  fit.hopeless_is_unresolvable = behaviour == Behaviour::corrected;
  for (const json::value& each : array_in(given, "filters")) {
    const json::object& args = object_in(object_of(each), "args");
    for (const std::string& name : texts_in(args, "ignoredResources")) {
      fit.ignored_resources.emplace(name);
    }
    for (const std::string& name : texts_in(args, "ignoredResourceGroups")) {
      fit.ignored_groups.emplace(name);
    }
  }
  return fit;
}

}  // namespace holdfast::cases
