// NodeResourcesFit and NodePorts: resources and host ports, for which pods on one node compete.

#include <algorithm>

#include "sync/objects/name.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

bool ignored(const std::string& resource, const FitOptions& options) {
  if (!objects::is_extended_resource(resource)) return false;
  return options.ignored_resources.contains(resource) ||
         options.ignored_groups.contains(resource.substr(0, resource.find('/')));
}

bool fits(std::int64_t wanted, std::int64_t has, std::int64_t used) {
  return wanted <= 0 || wanted <= has - used;
}

// A fast check without allocations: most nodes have room. False for pods with scalar resources,
// which need shortfalls().
bool all_fit(const Resources& wanted, const NodeView& node, const Resources& used,
             std::int64_t pods) {
  return pods < node.allowed_pods &&
         fits(wanted.milli_cpu, node.allocatable.milli_cpu, used.milli_cpu) &&
         fits(wanted.memory, node.allocatable.memory, used.memory) &&
         fits(wanted.ephemeral_storage, node.allocatable.ephemeral_storage,
              used.ephemeral_storage) &&
         wanted.scalars.empty();
}

class Fit final : public Filter {
 public:
  Fit(const PodView& pod, const Symbols& symbols, const FitOptions& options)
      : Filter(plugin_fit), pod_(pod), symbols_(symbols), options_(options) {}

  bool passes(const Trial& trial, std::span<const int> slots) const override {
    if (!pod_.requests.real.scalars.empty()) return check(trial, slots).ok();
    return all_fit(pod_.requests.real, trial.node(), trial.requested(), trial.pods());
  }
  FitStatus check(const Trial& trial, std::span<const int>) const override {
    if (all_fit(pod_.requests.real, trial.node(), trial.requested(), trial.pods())) return {};
    const auto missing =
        shortfalls(pod_, trial.node(), trial.requested(), trial.pods(), symbols_, options_);
    if (missing.empty()) return {};
    FitStatus fit_status{Code::unschedulable, {}};
    for (const Shortfall& each : missing) {
      const bool hopeless = each.resource != "pods" && each.requested > each.capacity;
      if (hopeless && options_.hopeless_is_unresolvable) fit_status.code = Code::unresolvable;
      fit_status.reasons.push_back(each.reason);
    }
    return fit_status;
  }

 private:
  const PodView& pod_;
  const Symbols& symbols_;
  const FitOptions& options_;  // owned by the plugin
};

int conflicts(const std::vector<HostPort>& wanted, const PodView& pod) {
  int count = 0;
  for (const HostPort& port : wanted) {
    for (const HostPort& taken : pod.host_ports) count += port.conflicts(taken) ? 1 : 0;
  }
  return count;
}

class Ports final : public Filter {
 public:
  explicit Ports(const PodView& pod) : Filter(plugin_ports), wanted_(pod.host_ports) {}

  std::size_t slots() const override { return 1; }
  FitStatus check(const Trial& trial, std::span<const int> slots) const override {
    int taken = slots[0];
    for (const PodView* pod : trial.node().with_ports) taken += conflicts(wanted_, *pod);
    if (taken == 0) return {};
    return reject(Code::unschedulable, std::string(reason_ports));
  }
  FitStatus change(const NodeView&, const PodView& pod, int by,
                   std::span<int> slots) const override {
    slots[0] += by * conflicts(wanted_, pod);
    return {};
  }

 private:
  const std::vector<HostPort>& wanted_;
};

}  // namespace

std::vector<Shortfall> shortfalls(const PodView& pod, const NodeView& node, const Resources& used,
                                  std::int64_t pods, const Symbols& symbols,
                                  const FitOptions& options) {
  std::vector<Shortfall> missing;
  if (pods + 1 > node.allowed_pods) {
    missing.push_back({"pods", std::string(reason_too_many_pods), 1, pods, node.allowed_pods});
  }
  const auto compare = [&missing](const std::string& name, std::int64_t wanted, std::int64_t taken,
                                  std::int64_t has) {
    if (fits(wanted, has, taken)) return;
    missing.push_back({name, "Insufficient " + name, wanted, taken, has});
  };
  const Resources& wanted = pod.requests.real;
  const Resources& has = node.allocatable;
  compare("cpu", wanted.milli_cpu, used.milli_cpu, has.milli_cpu);
  compare("memory", wanted.memory, used.memory, has.memory);
  compare("ephemeral-storage", wanted.ephemeral_storage, used.ephemeral_storage,
          has.ephemeral_storage);
  const auto scalars = static_cast<std::ptrdiff_t>(missing.size());
  for (const Scalar& scalar : wanted.scalars) {
    const std::string& name = symbols.name(scalar.resource);
    if (ignored(name, options)) continue;
    compare(name, scalar.amount, used.scalar(scalar.resource), has.scalar(scalar.resource));
  }
  std::sort(missing.begin() + scalars, missing.end(),
            [](const auto& left, const auto& right) { return left.resource < right.resource; });
  return missing;
}

Plugin node_resources_fit(const FitOptions& options) {
  const auto kept = std::make_shared<const FitOptions>(options);
  return {plugin_fit, [kept](const Cluster& cluster, const PodView& pod) {
            return Prepared{std::make_unique<Fit>(pod, cluster.symbols(), *kept), {}};
          }};
}

Plugin node_ports() {
  return {plugin_ports, [](const Cluster&, const PodView& pod) {
            if (pod.host_ports.empty()) return Prepared{nullptr, {}};
            return Prepared{std::make_unique<Ports>(pod), {}};
          }};
}

}  // namespace holdfast::sync::schedule
