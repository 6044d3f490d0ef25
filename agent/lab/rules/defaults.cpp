#include "agent/lab/rules/defaults.h"

#include <boost/json.hpp>
#include <string>

#include "agent/lab/rules/custom_definition.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

void default_template(json::object& spec) {
  default_pod_spec(sync::wire::make_object(spec, {"template", "spec"}));
}

void deployment(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  sync::wire::set_default(spec, "replicas", 1);
  default_template(spec);
  json::object& strategy = sync::wire::make_object(spec, {"strategy"});
  if (sync::wire::dig_text(strategy, {"type"}).empty()) strategy["type"] = "RollingUpdate";
  if (sync::wire::dig_text(strategy, {"type"}) == "RollingUpdate") {
    json::object& rolling = sync::wire::make_object(strategy, {"rollingUpdate"});
    sync::wire::set_default(rolling, "maxUnavailable", "25%");
    sync::wire::set_default(rolling, "maxSurge", "25%");
  }
  sync::wire::set_default(spec, "revisionHistoryLimit", 10);
  sync::wire::set_default(spec, "progressDeadlineSeconds", 600);
}

void replicaset(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  sync::wire::set_default(spec, "replicas", 1);
  default_template(spec);
}

void daemonset(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  default_template(spec);
  json::object& strategy = sync::wire::make_object(spec, {"updateStrategy"});
  if (sync::wire::dig_text(strategy, {"type"}).empty()) strategy["type"] = "RollingUpdate";
  if (sync::wire::dig_text(strategy, {"type"}) == "RollingUpdate") {
    sync::wire::set_default(sync::wire::make_object(strategy, {"rollingUpdate"}), "maxUnavailable",
                            1);
    sync::wire::set_default(sync::wire::make_object(strategy, {"rollingUpdate"}), "maxSurge", 0);
  }
  sync::wire::set_default(spec, "revisionHistoryLimit", 10);
}

void node(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  const std::string cidr(sync::wire::dig_text(spec, {"podCIDR"}));
  const json::array& all = sync::wire::dig_list(spec, {"podCIDRs"});
  if (!cidr.empty() && all.empty()) spec["podCIDRs"] = json::array({json::value(cidr)});
  if (cidr.empty() && !all.empty()) spec["podCIDR"] = json::value(all.front());
  json::object& status = sync::wire::make_object(object, {"status"});
  const json::object capacity = sync::wire::dig_object(status, {"capacity"});
  if (!capacity.empty() && sync::wire::dig(status, {"allocatable"}) == nullptr) {
    status["allocatable"] = capacity;
  }
}

void service(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  if (sync::wire::dig_text(spec, {"type"}).empty()) spec["type"] = "ClusterIP";
  if (sync::wire::dig_text(spec, {"sessionAffinity"}).empty()) spec["sessionAffinity"] = "None";
  const std::string_view type = sync::wire::dig_text(spec, {"type"});
  if (type == "NodePort" || type == "LoadBalancer") {
    if (sync::wire::dig_text(spec, {"externalTrafficPolicy"}).empty()) {
      spec["externalTrafficPolicy"] = "Cluster";
    }
  }
  json::value* ports = spec.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (json::value& item : ports->get_array()) {
    if (!item.is_object()) continue;
    json::object& port = item.get_object();
    if (sync::wire::dig_text(port, {"protocol"}).empty()) port["protocol"] = "TCP";
    const json::value* target = sync::wire::dig(port, {"targetPort"});
    const bool unset = target == nullptr || sync::wire::int_or_string(*target).empty() ||
                       sync::wire::int_or_string(*target) == "0";
    const json::value number = sync::wire::dig_int(port, {"port"});
    if (unset) port["targetPort"] = number;
  }
}

void secret(json::object& object) {
  const json::object plain = sync::wire::dig_object(object, {"stringData"});
  if (!plain.empty()) {
    json::object& data = sync::wire::make_object(object, {"data"});
    for (const auto& entry : plain)
      data[entry.key()] = base64_encode(sync::wire::as_text(entry.value()));
  }
  object.erase("stringData");
  if (sync::wire::dig_text(object, {"type"}).empty()) object["type"] = "Opaque";
}

void endpoints(json::object& object) {
  json::value* subsets = object.if_contains("subsets");
  if (subsets == nullptr || !subsets->is_array()) return;
  for (json::value& subset : subsets->get_array()) {
    json::value* ports = subset.is_object() ? subset.get_object().if_contains("ports") : nullptr;
    if (ports == nullptr || !ports->is_array()) continue;
    for (json::value& port : ports->get_array()) {
      if (port.is_object() && sync::wire::dig_text(port.get_object(), {"protocol"}).empty()) {
        port.get_object()["protocol"] = "TCP";
      }
    }
  }
}

void endpointslice(json::object& object) {
  json::value* ports = object.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return;
  for (json::value& port : ports->get_array()) {
    if (!port.is_object()) continue;
    sync::wire::set_default(port.get_object(), "name", "");
    sync::wire::set_default(port.get_object(), "protocol", "TCP");
  }
}

void volume(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  if (sync::wire::dig_text(spec, {"persistentVolumeReclaimPolicy"}).empty()) {
    spec["persistentVolumeReclaimPolicy"] = "Retain";
  }
  sync::wire::set_default(spec, "volumeMode", "Filesystem");
  sync::wire::set_default(sync::wire::make_object(object, {"status"}), "phase", "Pending");
}

void csidriver(json::object& object) {
  json::object& spec = sync::wire::make_object(object, {"spec"});
  sync::wire::set_default(spec, "attachRequired", true);
  sync::wire::set_default(spec, "podInfoOnMount", false);
  sync::wire::set_default(spec, "storageCapacity", false);
  sync::wire::set_default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  sync::wire::set_default(spec, "requiresRepublish", false);
  if (sync::wire::dig_list(spec, {"volumeLifecycleModes"}).empty()) {
    spec["volumeLifecycleModes"] = json::array({"Persistent"});
  }
}

void storageclass(json::object& object) {
  sync::wire::set_default(object, "reclaimPolicy", "Delete");
  sync::wire::set_default(object, "volumeBindingMode", "Immediate");
}

void priorityclass(json::object& object) {
  sync::wire::set_default(object, "preemptionPolicy", "PreemptLowerPriority");
}

using Defaults = void (*)(json::object&);

constexpr std::pair<std::string_view, Defaults> table[] = {
    {"Pod", default_pod},
    {"Deployment", deployment},
    {"ReplicaSet", replicaset},
    {"DaemonSet", daemonset},
    {"StatefulSet", default_stateful_set},
    {"Job", default_job},
    {"RoleBinding", default_role_binding},
    {"ClusterRoleBinding", default_role_binding},
    {"Node", node},
    {"Service", service},
    {"Secret", secret},
    {"Endpoints", endpoints},
    {"EndpointSlice", endpointslice},
    {"PersistentVolume", volume},
    {"PersistentVolumeClaim", default_claim},
    {"CSIDriver", csidriver},
    {"StorageClass", storageclass},
    {"PriorityClass", priorityclass},
};

}  // namespace

void default_claim(json::object& claim) {
  sync::wire::set_default(sync::wire::make_object(claim, {"spec"}), "volumeMode", "Filesystem");
  sync::wire::set_default(sync::wire::make_object(claim, {"status"}), "phase", "Pending");
}

void apply_defaults(const sync::printing::Resource& resource, json::object& object) {
  if (resource.kind == "CustomResourceDefinition") default_definition(object);
  for (const auto& [kind, apply] : table) {
    if (kind == resource.kind) apply(object);
  }
}

}  // namespace holdfast::agent::lab
