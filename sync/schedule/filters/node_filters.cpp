// The filters that depend on the node alone and not on its pods: cordon, name, taints, node
// affinity and pressure. Also the list of all plugins.

#include <algorithm>

#include "sync/objects/names.h"
#include "sync/objects/qos.h"
#include "sync/objects/toleration.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"
#include "sync/schedule/node_matcher.h"

namespace holdfast::sync::schedule {
namespace {

using Slots = std::span<const int>;

bool tolerated(const Taint& taint, const Pod& pod) {
  const auto& all = pod.spec.tolerations;
  return std::any_of(all.begin(), all.end(), [&taint](const Toleration& toleration) {
    return objects::tolerates(toleration, taint, false);
  });
}

class Cordon final : public Filter {
 public:
  Cordon() : Filter(plugin_unschedulable) {}
  FitStatus check(const Trial& trial, Slots) const override {
    if (!trial.node().node->spec.unschedulable) return {};
    return reject(Code::unresolvable, std::string(reason_unschedulable));
  }
};

class Name final : public Filter {
 public:
  explicit Name(std::string wanted) : Filter(plugin_node_name), wanted_(std::move(wanted)) {}
  FitStatus check(const Trial& trial, Slots) const override {
    if (trial.node().name() == wanted_) return {};
    return reject(Code::unresolvable, std::string(reason_node_name));
  }

 private:
  std::string wanted_;
};

class Taints final : public Filter {
 public:
  explicit Taints(const Pod& pod) : Filter(plugin_taints), pod_(pod) {}
  FitStatus check(const Trial& trial, Slots) const override {
    const Taint* taint = untolerated(trial.node().node->spec.taints, pod_);
    if (taint == nullptr) return {};
    return reject(Code::unresolvable,
                  "node(s) had untolerated taint {" + taint->key + ": " + taint->value + "}");
  }

 private:
  const Pod& pod_;
};

class Affine final : public Filter {
 public:
  explicit Affine(NodeMatcher wanted) : Filter(plugin_node_affinity), wanted_(std::move(wanted)) {}
  FitStatus check(const Trial& trial, Slots) const override {
    if (wanted_.matches(*trial.node().node)) return {};
    return reject(Code::unresolvable, std::string(reason_node_affinity));
  }

 private:
  NodeMatcher wanted_;
};

class Pressure final : public Filter {
 public:
  Pressure(std::string_view plugin, std::string_view condition, std::string_view reason, Code code)
      : Filter(plugin), condition_(condition), reason_(reason), code_(code) {}
  FitStatus check(const Trial& trial, Slots) const override {
    const NodeCondition* found = find_condition(trial.node().node->status, condition_);
    if (found == nullptr || found->status != objects::status_true) return {};
    return reject(code_, std::string(reason_));
  }

 private:
  std::string_view condition_;
  std::string_view reason_;
  Code code_;
};

Prepared skip() { return {nullptr, {}}; }

Prepared prepare_affinity(const Cluster&, const PodView& pod) {
  NodeMatcher wanted(pod.pod->spec);
  if (wanted.matches_all()) return skip();
  Prepared made = skip();
  made.only_nodes = wanted.names();
  if (made.only_nodes && made.only_nodes->empty()) {
    made.fit_status =
        reject(Code::unresolvable, std::string(reason_affinity_conflict), plugin_node_affinity);
  }
  made.filter = std::make_unique<Affine>(std::move(wanted));
  return made;
}

}  // namespace

const Taint* untolerated(const std::vector<Taint>& taints, const Pod& pod) {
  for (const Taint& taint : taints) {
    const bool hard = taint.effect == objects::no_schedule || taint.effect == objects::no_execute;
    if (hard && !tolerated(taint, pod)) return &taint;
  }
  return nullptr;
}

bool tolerates_cordon(const Pod& pod) {
  const Taint cordon{std::string(objects::taint_unschedulable),
                     "",
                     std::string(objects::no_schedule),
                     std::nullopt,
                     {}};
  return tolerated(cordon, pod);
}

Plugin node_unschedulable() {
  return {plugin_unschedulable, [](const Cluster&, const PodView& pod) {
            return tolerates_cordon(*pod.pod) ? skip() : Prepared{std::make_unique<Cordon>(), {}};
          }};
}

Plugin node_name() {
  return {plugin_node_name, [](const Cluster&, const PodView& pod) {
            if (pod.node().empty()) return skip();
            return Prepared{std::make_unique<Name>(pod.node()), {}};
          }};
}

Plugin taint_toleration() {
  return {plugin_taints, [](const Cluster&, const PodView& pod) {
            return Prepared{std::make_unique<Taints>(*pod.pod), {}};
          }};
}

Plugin node_affinity() { return {plugin_node_affinity, prepare_affinity}; }

Plugin memory_pressure(Code code) {
  return {plugin_memory_pressure, [code](const Cluster&, const PodView& pod) {
            if (objects::qos_class(*pod.pod) != objects::Qos::best_effort) return skip();
            return Prepared{std::make_unique<Pressure>(plugin_memory_pressure,
                                                       objects::condition_memory_pressure,
                                                       reason_memory_pressure, code),
                            {}};
          }};
}

Plugin disk_pressure(Code code) {
  return {plugin_disk_pressure, [code](const Cluster&, const PodView&) {
            return Prepared{
                std::make_unique<Pressure>(plugin_disk_pressure, objects::condition_disk_pressure,
                                           reason_disk_pressure, code),
                {}};
          }};
}

std::vector<Plugin> plugins(const PluginOptions& options) {
  std::vector<Plugin> all = {node_unschedulable(), node_name(), taint_toleration()};
  if (options.contact) all.push_back(node_contact());
  all.push_back(node_affinity());
  all.push_back(node_ports());
  all.push_back(node_resources_fit(options.fit));
  if (options.volumes) {
    all.push_back(volume_restrictions());
    all.push_back(node_volume_limits());
    all.push_back(volume_binding());
    all.push_back(volume_zone());
  }
  all.push_back(pod_topology_spread());
  all.push_back(inter_pod_affinity());
  all.push_back(dynamic_resources());
  all.push_back(gang_scheduling());
  if (options.pressure_predicates) {
    all.push_back(memory_pressure());
    all.push_back(disk_pressure());
  }
  return all;
}

}  // namespace holdfast::sync::schedule
