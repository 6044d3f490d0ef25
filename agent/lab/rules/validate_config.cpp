#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "agent/lab/rules/validation.h"
#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::size_t data_max = 1UL << 20;  // upstream's MaxSecretSize
constexpr std::string_view service_types[] = {"ClusterIP", "ExternalName", "LoadBalancer",
                                              "NodePort"};
constexpr std::string_view taint_effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

void check_keys(sync::wire::FieldErrors& errors, const json::object& object, std::size_t& bytes,
                std::string_view part) {
  for (const auto& entry : sync::wire::dig_object(object, {part})) {
    for (std::string& reason : sync::objects::check_config_key(entry.key())) {
      errors.push_back(sync::wire::field::invalid(
          sync::wire::at(part, std::string_view(entry.key())), entry.key(), std::move(reason)));
    }
    bytes += sync::wire::as_text(entry.value()).size();
  }
}

void check_data(sync::wire::FieldErrors& errors, const json::object& object) {
  std::size_t bytes = 0;
  check_keys(errors, object, bytes, "data");
  check_keys(errors, object, bytes, "binaryData");
  if (bytes > data_max * 4 / 3) errors.push_back(sync::wire::field::too_long("data", data_max));
}

void check_taints(sync::wire::FieldErrors& errors, const json::object& node) {
  std::set<std::string> seen;
  const json::array& taints = sync::wire::dig_list(node, {"spec", "taints"});
  for (std::size_t index = 0; index < taints.size(); ++index) {
    const json::object& taint = sync::wire::as_object(taints[index]);
    const std::string here = sync::wire::at("metadata.taints", index);
    const std::string_view key = sync::wire::dig_text(taint, {"key"});
    const std::string_view value = sync::wire::dig_text(taint, {"value"});
    const std::string_view effect = sync::wire::dig_text(taint, {"effect"});
    for (std::string& reason : sync::objects::check_qualified_name(key)) {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "key"), key, std::move(reason)));
    }
    for (std::string& reason : sync::objects::check_label_value(value)) {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "value"), value, std::move(reason)));
    }
    if (effect.empty()) {
      errors.push_back(sync::wire::field::required(sync::wire::child(here, "effect")));
    } else if (std::find(std::begin(taint_effects), std::end(taint_effects), effect) ==
               std::end(taint_effects)) {
      errors.push_back(sync::wire::field::not_supported(sync::wire::child(here, "effect"), effect,
                                                        taint_effects));
    }
    if (!seen.insert(std::string(key) + ":" + std::string(effect)).second) {
      sync::wire::FieldError error = sync::wire::field::duplicate(here, "");
      error.value = json::serialize(taint);
      error.detail = "taints must be unique by key and effect pair";
      errors.push_back(std::move(error));
    }
  }
}

void check_lease(sync::wire::FieldErrors& errors, const json::object& lease) {
  const json::value* duration = sync::wire::dig(lease, {"spec", "leaseDurationSeconds"});
  if (duration != nullptr && sync::wire::dig_int(lease, {"spec", "leaseDurationSeconds"}) <= 0) {
    errors.push_back(sync::wire::field::invalid_raw(
        "spec.leaseDurationSeconds", json::serialize(*duration), "must be greater than 0"));
  }
  const std::int64_t transitions = sync::wire::dig_int(lease, {"spec", "leaseTransitions"});
  if (transitions < 0) {
    errors.push_back(sync::wire::field::invalid_raw("spec.leaseTransitions",
                                                    std::to_string(transitions),
                                                    "must be greater than or equal to 0"));
  }
}

void check_budget(sync::wire::FieldErrors& errors, const json::object& budget) {
  const json::value* least = sync::wire::dig(budget, {"spec", "minAvailable"});
  const json::value* down = sync::wire::dig(budget, {"spec", "maxUnavailable"});
  if (least != nullptr && down != nullptr) {
    errors.push_back(sync::wire::field::invalid_raw(
        "spec", json::serialize(sync::wire::dig_object(budget, {"spec"})),
        "minAvailable and maxUnavailable cannot be both set"));
  }
  check_label_selector(errors, sync::wire::dig_object(budget, {"spec", "selector"}),
                       "spec.selector");
}

void check_event(sync::wire::FieldErrors& errors, const json::object& event) {
  const std::string_view about = sync::wire::dig_text(event, {"involvedObject", "namespace"});
  const std::string_view space = sync::wire::namespace_of(event);
  const bool cluster_scoped = about.empty() && (space == "default" || space == "kube-system");
  if (about == space || cluster_scoped) return;
  errors.push_back(sync::wire::field::invalid("involvedObject.namespace", about,
                                              "does not match event.namespace"));
}

}  // namespace

void check_service(sync::wire::FieldErrors& errors, const json::object& service) {
  const json::object& spec = sync::wire::dig_object(service, {"spec"});
  const std::string_view type = sync::wire::dig_text(spec, {"type"});
  const json::array& ports = sync::wire::dig_list(spec, {"ports"});
  const bool headless = sync::wire::dig_text(spec, {"clusterIP"}) == "None";
  if (ports.empty() && !headless && type != "ExternalName") {
    errors.push_back(sync::wire::field::required("spec.ports"));
  }
  if (type == "ExternalName" && sync::wire::dig_text(spec, {"externalName"}).empty()) {
    errors.push_back(sync::wire::field::required("spec.externalName"));
  }
  if (std::find(std::begin(service_types), std::end(service_types), type) ==
      std::end(service_types)) {
    errors.push_back(sync::wire::field::not_supported("spec.type", type, service_types));
  }
  std::set<std::string_view> names;
  for (std::size_t index = 0; index < ports.size(); ++index) {
    const json::object& port = sync::wire::as_object(ports[index]);
    const std::string here = sync::wire::at("spec.ports", index);
    const std::string_view name = sync::wire::dig_text(port, {"name"});
    if (name.empty() && ports.size() > 1)
      errors.push_back(sync::wire::field::required(sync::wire::child(here, "name")));
    if (!name.empty() && !names.insert(name).second) {
      errors.push_back(sync::wire::field::duplicate(sync::wire::child(here, "name"), name));
    }
    const std::int64_t number = sync::wire::dig_int(port, {"port"});
    if (number >= 1 && number <= 65535) continue;
    errors.push_back(sync::wire::field::invalid_raw(sync::wire::child(here, "port"),
                                                    std::to_string(number),
                                                    "must be between 1 and 65535, inclusive"));
  }
}

void check_config(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                  const json::object& object) {
  const std::string_view kind = resource.kind;
  if (kind == "ConfigMap" || kind == "Secret") check_data(errors, object);
  if (kind == "Node") {
    check_taints(errors, object);
    check_node(errors, object);
  }
  if (kind == "Lease") check_lease(errors, object);
  if (kind == "PodDisruptionBudget") check_budget(errors, object);
  if (kind == "Event") check_event(errors, object);
  if (kind == "Service") check_service(errors, object);
  if (kind == "RuntimeClass" && sync::wire::dig_text(object, {"handler"}).empty()) {
    errors.push_back(sync::wire::field::required("handler"));
  }
}

}  // namespace holdfast::agent::lab
