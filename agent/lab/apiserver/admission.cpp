#include "agent/lab/apiserver/admission.h"

#include <boost/json.hpp>
#include <set>
#include <string>

#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/defaults.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

struct Priority {
  std::int64_t value = 0;
  std::string preemption = "PreemptLowerPriority";
};

Priority of_class(const json::object& priority) {
  const std::string_view preemption = sync::wire::dig_text(priority, {"preemptionPolicy"});
  Priority found{sync::wire::dig_int(priority, {"value"})};
  if (!preemption.empty()) found.preemption = preemption;
  return found;
}

Answer<Priority> find_priority(const Registry& registry, const json::object& pod) {
  const std::string_view name = sync::wire::dig_text(pod, {"spec", "priorityClassName"});
  if (name == "system-node-critical") return Priority{2000001000};
  if (name == "system-cluster-critical") return Priority{2000000000};
  const sync::printing::Resource& classes =
      sync::printing::known_kind("scheduling.k8s.io", "PriorityClass");
  for (const StoredPtr& stored : registry.list(classes)) {
    const bool named = !name.empty() && sync::wire::name_of(stored->object) == name;
    const bool chosen = name.empty() && sync::wire::dig_bool(stored->object, {"globalDefault"});
    if (named || chosen) return of_class(stored->object);
  }
  if (name.empty()) return Priority{};
  return refuse(sync::wire::status::forbidden(
      {"", "pods"}, sync::wire::name_of(pod),
      "no PriorityClass with name " + std::string(name) + " was found"));
}

struct Taken {
  std::set<std::string> addresses;
  std::set<std::int64_t> node_ports;
};

Taken taken_by_services(const Registry& registry) {
  Taken taken;
  for (const StoredPtr& stored : registry.list(sync::printing::known_kind("", "Service"))) {
    taken.addresses.emplace(sync::wire::dig_text(stored->object, {"spec", "clusterIP"}));
    for (const json::value& port : sync::wire::dig_list(stored->object, {"spec", "ports"})) {
      taken.node_ports.insert(sync::wire::dig_int(sync::wire::as_object(port), {"nodePort"}));
    }
  }
  return taken;
}

constexpr int tries = 1000;

// A free address of 10.0.0.0/16, which is large enough for any lab; "" if none was found.
std::string free_address(const Taken& taken, Random& random) {
  for (int left = tries; left > 0; --left) {
    std::string address =
        "10.0." + std::to_string(random.below(256)) + "." + std::to_string(1 + random.below(254));
    if (!taken.addresses.contains(address)) return address;
  }
  return {};
}

bool give_node_ports(json::object& spec, Taken& taken, Random& random) {
  json::value* ports = spec.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return true;
  for (json::value& item : ports->get_array()) {
    json::object& port = item.get_object();
    if (sync::wire::dig_int(port, {"nodePort"}) != 0) continue;
    std::int64_t number = 0;
    for (int left = tries; left > 0 && number == 0; --left) {
      const auto candidate = static_cast<std::int64_t>(30000 + random.below(2768));
      if (taken.node_ports.insert(candidate).second) number = candidate;
    }
    if (number == 0) return false;
    port["nodePort"] = number;
  }
  return true;
}

}  // namespace

Answer<json::object> admit_pod(const Registry& registry, json::object pod) {
  const auto priority = find_priority(registry, pod);
  if (!priority) return refuse(priority.error());
  admit_pod(pod, priority->value, priority->preemption);
  return canonical(sync::printing::known_kind("", "Pod"), std::move(pod));
}

Answer<json::object> admit_service(const Registry& registry, json::object service, Random& random) {
  json::object& spec = sync::wire::make_object(service, {"spec"});
  const std::string type(sync::wire::dig_text(spec, {"type"}));
  Taken taken = taken_by_services(registry);
  if (type != "ExternalName" && sync::wire::dig_text(spec, {"clusterIP"}).empty()) {
    spec["clusterIP"] = free_address(taken, random);
  }
  if (const std::string address(sync::wire::dig_text(spec, {"clusterIP"})); !address.empty()) {
    spec["clusterIPs"] = json::array({json::value(address)});
  } else if (type != "ExternalName") {
    return refuse(sync::wire::status::internal_error("failed to allocate a serviceIP"));
  }
  if (type == "NodePort" || type == "LoadBalancer") {
    if (!give_node_ports(spec, taken, random)) {
      return refuse(sync::wire::status::internal_error("failed to allocate a nodePort"));
    }
  }
  return canonical(sync::printing::known_kind("", "Service"), std::move(service));
}

}  // namespace holdfast::agent::lab
