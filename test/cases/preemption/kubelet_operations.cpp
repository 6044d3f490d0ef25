// Operations of a kubelet: QoS classes, critical pods, preemption and admission.

#include <algorithm>

#include "sync/node/admission.h"
#include "sync/node/critical.h"
#include "sync/objects/qos.h"
#include "test/cases/preemption/operations.h"

namespace holdfast::cases {

namespace node = sync::node;

namespace {

// Bytes or thousandths of a CPU, up to a pebibyte.
constexpr Range any_amount{0, std::int64_t{1} << 50};

node::Requirements read_requirements(const json::object& given) {
  node::Requirements all;
  for (const json::value& each : array_in(given, "insufficient")) {
    const json::object& one = object_of(each);
    all.push_back({needs_text(one, "resource"), integer_of(needs(one, "quantity"), any_amount)});
  }
  return all;
}

void preempt(const Operation& op, Input& input, const node::Pods& pods) {
  const auto found = node::victims(*input.pod_at("preemptor")->pod, pods,
                                   read_requirements(op.given), input.cluster.symbols());
  if (!found) {
    op.check.equal("victims", nullptr);
    return op.check.equal("error", json::value(found.error().what));
  }
  op.check.list("victims", names_of(*found));
  // The rules only choose the victims. The node kills them and skips those that it cannot kill.
  const Names unkillable = names_in(op.given, "killErrors");
  Names killed;
  for (const std::string& name : names_of(*found)) {
    if (std::find(unkillable.begin(), unkillable.end(), name) == unkillable.end()) {
      killed.push_back(name);
    }
  }
  op.check.list("killed", killed);
}

void subtract(const Operation& op, Input& input, const node::Pods& pods) {
  json::array left;
  for (const node::Requirement& each :
       node::subtract(read_requirements(op.given), pods, input.cluster.symbols())) {
    left.push_back(json::object{{"resource", each.resource}, {"quantity", each.amount}});
  }
  op.check.equal("insufficient", left);
}

void compare(const Operation& op, const node::Admission& admission) {
  op.check.equal("admit", admission.admit);
  op.check.equal("reason", json::value(admission.reason));
  op.check.equal("message", json::value(admission.message));
  op.check.list("victims", names_of(admission.victims));
}

node::AdmissionFailure read_failure(const json::object& one) {
  if (find(one, "plugin") != nullptr) {
    return node::PluginFailure{needs_text(one, "plugin"), text(one, "text")};
  }
  const auto amount = [&one](std::string_view key) {
    return integer_of(needs(one, key), any_amount);
  };
  return node::ResourceFailure{needs_text(one, "resource"), amount("requested"), amount("used"),
                               amount("capacity")};
}

void admit_after_failure(const Operation& op, Input& input, const node::Pods& pods) {
  std::vector<node::AdmissionFailure> failures;
  for (const json::value& each : array_in(op.given, "failures")) {
    failures.push_back(read_failure(object_of(each)));
  }
  compare(op, node::admit_after_failure(*input.pod_at("pod")->pod, pods, failures,
                                        input.cluster.symbols()));
}

}  // namespace

bool kubelet_operation(const Operation& op) {
  Input input(op.given);
  const node::Pods pods = input.distinct_pods(array_in(op.given, "pods"));
  if (op.name == "qosClass") {
    const auto qos = to_string(sync::objects::qos_class(*input.pod_at("pod")->pod));
    op.check.equal("qosClass", json::value(qos));
  } else if (op.name == "isCritical") {
    op.check.equal("critical", node::is_critical(*input.pod_at("pod")->pod));
  } else if (op.name == "kubeletPreempt") {
    preempt(op, input, pods);
  } else if (op.name == "kubeletDistance") {
    op.check.equal("distance", node::distance(read_requirements(op.given), *input.pod_at("pod"),
                                              input.cluster.symbols()));
  } else if (op.name == "kubeletSubtract") {
    subtract(op, input, pods);
  } else if (op.name == "pressureAdmit") {
    compare(op, node::admit_under_pressure(*input.pod_at("pod")->pod,
                                           names_in(op.given, "nodeConditions")));
  } else if (op.name == "admitAfterFailure") {
    admit_after_failure(op, input, pods);
  } else {
    return false;
  }
  return true;
}

}  // namespace holdfast::cases
