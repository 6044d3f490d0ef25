#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "agent/lab/rules/validation.h"
#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view pull_policies[] = {"Always", "IfNotPresent", "Never"};
constexpr std::string_view restart_policies[] = {"Always", "OnFailure", "Never"};
constexpr std::string_view dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                             "None"};
constexpr std::string_view protocols[] = {"SCTP", "TCP", "UDP"};
constexpr std::string_view toleration_operators[] = {"Equal", "Exists"};
constexpr std::string_view toleration_effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

bool is_one_of(std::string_view text, std::span<const std::string_view> known) {
  return std::find(known.begin(), known.end(), text) != known.end();
}

void check_choice(sync::wire::FieldErrors& errors, std::string_view text,
                  std::span<const std::string_view> known, std::string path) {
  if (!is_one_of(text, known))
    errors.push_back(sync::wire::field::not_supported(std::move(path), text, known));
}

void check_unique_label(sync::wire::FieldErrors& errors, std::set<std::string_view>& seen,
                        std::string_view name, const std::string& path) {
  if (name.empty()) {
    errors.push_back(sync::wire::field::required(path));
    return;
  }
  for (std::string& reason : sync::objects::check_dns1123_label(name)) {
    errors.push_back(sync::wire::field::invalid(path, name, std::move(reason)));
  }
  if (!seen.insert(name).second) errors.push_back(sync::wire::field::duplicate(path, name));
}

void check_ports(sync::wire::FieldErrors& errors, const json::object& container,
                 const std::string& path) {
  const json::array& ports = sync::wire::dig_list(container, {"ports"});
  for (std::size_t index = 0; index < ports.size(); ++index) {
    const json::object& port = sync::wire::as_object(ports[index]);
    const std::string here = sync::wire::at(sync::wire::child(path, "ports"), index);
    const std::int64_t number = sync::wire::dig_int(port, {"containerPort"});
    if (number == 0) {
      errors.push_back(sync::wire::field::required(sync::wire::child(here, "containerPort")));
    } else if (number < 1 || number > 65535) {
      errors.push_back(sync::wire::field::invalid_raw(sync::wire::child(here, "containerPort"),
                                                      std::to_string(number),
                                                      "must be between 1 and 65535, inclusive"));
    }
    check_choice(errors, sync::wire::dig_text(port, {"protocol"}), protocols,
                 sync::wire::child(here, "protocol"));
  }
}

void check_env(sync::wire::FieldErrors& errors, const json::object& container,
               const std::string& path) {
  const json::array& variables = sync::wire::dig_list(container, {"env"});
  for (std::size_t index = 0; index < variables.size(); ++index) {
    const std::string_view name =
        sync::wire::dig_text(sync::wire::as_object(variables[index]), {"name"});
    const std::string here =
        sync::wire::child(sync::wire::at(sync::wire::child(path, "env"), index), "name");
    if (name.empty()) {
      errors.push_back(sync::wire::field::required(here));
      continue;
    }
    for (std::string& reason : sync::objects::check_env_name(name)) {
      errors.push_back(sync::wire::field::invalid(here, name, std::move(reason)));
    }
  }
}

void check_mounts(sync::wire::FieldErrors& errors, const json::object& container,
                  const std::set<std::string_view>& volumes, const std::string& path) {
  const json::array& mounts = sync::wire::dig_list(container, {"volumeMounts"});
  std::set<std::string_view> places;
  for (std::size_t index = 0; index < mounts.size(); ++index) {
    const json::object& mount = sync::wire::as_object(mounts[index]);
    const std::string here = sync::wire::at(sync::wire::child(path, "volumeMounts"), index);
    const std::string_view name = sync::wire::dig_text(mount, {"name"});
    const std::string_view place = sync::wire::dig_text(mount, {"mountPath"});
    if (name.empty())
      errors.push_back(sync::wire::field::required(sync::wire::child(here, "name")));
    if (place.empty())
      errors.push_back(sync::wire::field::required(sync::wire::child(here, "mountPath")));
    if (!name.empty() && !volumes.contains(name)) {
      errors.push_back(sync::wire::field::not_found(sync::wire::child(here, "name"), name));
    }
    if (!places.insert(place).second) {
      errors.push_back(sync::wire::field::invalid(sync::wire::child(here, "mountPath"), place,
                                                  "must be unique"));
    }
  }
}

// Limits are checked before requests, as in upstream.
void check_resources(sync::wire::FieldErrors& errors, const json::object& container,
                     const std::string& path) {
  for (const std::string_view kind : {"limits", "requests"}) {
    for (const auto& entry : sync::wire::dig_object(container, {"resources", kind})) {
      const std::string_view quantity = sync::wire::as_text(entry.value());
      if (!quantity.starts_with('-')) continue;
      errors.push_back(sync::wire::field::invalid(
          sync::wire::at(sync::wire::child(sync::wire::child(path, "resources"), kind),
                         entry.key()),
          quantity, "must be greater than or equal to 0"));
    }
  }
}

void check_container(sync::wire::FieldErrors& errors, const json::object& container,
                     const std::set<std::string_view>& volumes, const std::string& path) {
  if (sync::wire::dig_text(container, {"image"}).empty()) {
    errors.push_back(sync::wire::field::required(sync::wire::child(path, "image")));
  }
  check_ports(errors, container, path);
  check_env(errors, container, path);
  check_mounts(errors, container, volumes, path);
  check_choice(errors, sync::wire::dig_text(container, {"imagePullPolicy"}), pull_policies,
               sync::wire::child(path, "imagePullPolicy"));
  check_resources(errors, container, path);
}

void check_tolerations(sync::wire::FieldErrors& errors, const json::object& spec,
                       const std::string& path) {
  const json::array& tolerations = sync::wire::dig_list(spec, {"tolerations"});
  for (std::size_t index = 0; index < tolerations.size(); ++index) {
    const json::object& toleration = sync::wire::as_object(tolerations[index]);
    const std::string here = sync::wire::at(sync::wire::child(path, "tolerations"), index);
    const std::string_view key = sync::wire::dig_text(toleration, {"key"});
    const std::string_view op = sync::wire::dig_text(toleration, {"operator"});
    const std::string_view effect = sync::wire::dig_text(toleration, {"effect"});
    for (std::string& reason :
         key.empty() ? sync::objects::Reasons{} : sync::objects::check_qualified_name(key)) {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "key"), key, std::move(reason)));
    }
    if (key.empty() && op != "Exists") {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "operator"), op,
                                     "operator must be Exists when `key` is empty, which means "
                                     "\"match all values and all keys\""));
    }
    if (!op.empty())
      check_choice(errors, op, toleration_operators, sync::wire::child(here, "operator"));
    if (sync::wire::dig(toleration, {"tolerationSeconds"}) != nullptr && effect != "NoExecute") {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "effect"), effect,
                                     "effect must be 'NoExecute' when `tolerationSeconds` is "
                                     "set"));
    }
    if (!effect.empty())
      check_choice(errors, effect, toleration_effects, sync::wire::child(here, "effect"));
  }
}

std::set<std::string_view> check_volumes(sync::wire::FieldErrors& errors, const json::object& spec,
                                         const std::string& path) {
  std::set<std::string_view> names;
  const json::array& volumes = sync::wire::dig_list(spec, {"volumes"});
  for (std::size_t index = 0; index < volumes.size(); ++index) {
    check_unique_label(
        errors, names, sync::wire::dig_text(sync::wire::as_object(volumes[index]), {"name"}),
        sync::wire::child(sync::wire::at(sync::wire::child(path, "volumes"), index), "name"));
  }
  return names;
}

void check_containers(sync::wire::FieldErrors& errors, const json::object& spec,
                      std::string_view list, const std::set<std::string_view>& volumes,
                      const std::string& path) {
  std::set<std::string_view> names;
  const json::array& containers = sync::wire::dig_list(spec, {list});
  for (std::size_t index = 0; index < containers.size(); ++index) {
    const json::object& container = sync::wire::as_object(containers[index]);
    const std::string here = sync::wire::at(sync::wire::child(path, list), index);
    check_unique_label(errors, names, sync::wire::dig_text(container, {"name"}),
                       sync::wire::child(here, "name"));
    check_container(errors, container, volumes, here);
  }
}

constexpr std::string_view update_rule =
    "pod updates may not change fields other than `spec.containers[*].image`, "
    "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only "
    "additions to existing tolerations)";

// Copies the old images into `spec`, because changing them is allowed.
void forget_images(json::object& spec, const json::object& old, std::string_view list) {
  json::value* mine = spec.if_contains(list);
  const json::array& theirs = sync::wire::dig_list(old, {list});
  if (mine == nullptr || !mine->is_array()) return;
  for (std::size_t at_index = 0; at_index < theirs.size(); ++at_index) {
    json::value& container = mine->get_array()[at_index];
    const json::value* image = sync::wire::as_object(theirs[at_index]).if_contains("image");
    if (container.is_object() && image != nullptr) container.get_object()["image"] = *image;
  }
}

// Copies the old scheduling gates if some were only removed, because that is allowed.
void forget_lifted_gates(json::object& spec, const json::object& before) {
  const json::array& had = sync::wire::dig_list(before, {"schedulingGates"});
  for (const json::value& gate : sync::wire::dig_list(spec, {"schedulingGates"})) {
    if (std::find(had.begin(), had.end(), gate) == had.end()) return;
  }
  if (!had.empty()) spec["schedulingGates"] = had;
}

bool has_toleration(const json::array& list, const json::value& wanted) {
  for (const json::value& candidate : list) {
    json::object left = sync::wire::as_object(candidate);
    json::object right = sync::wire::as_object(wanted);
    left.erase("tolerationSeconds");
    right.erase("tolerationSeconds");
    if (left == right) return true;
  }
  return false;
}

}  // namespace

void check_pod_spec(sync::wire::FieldErrors& errors, const json::object& spec,
                    const std::string& path) {
  const std::set<std::string_view> volumes = check_volumes(errors, spec, path);
  if (sync::wire::dig_list(spec, {"containers"}).empty()) {
    errors.push_back(sync::wire::field::required(sync::wire::child(path, "containers")));
  }
  check_containers(errors, spec, "containers", volumes, path);
  check_containers(errors, spec, "initContainers", volumes, path);
  check_choice(errors, sync::wire::dig_text(spec, {"restartPolicy"}), restart_policies,
               sync::wire::child(path, "restartPolicy"));
  check_choice(errors, sync::wire::dig_text(spec, {"dnsPolicy"}), dns_policies,
               sync::wire::child(path, "dnsPolicy"));
  check_label_map(errors, sync::wire::dig_object(spec, {"nodeSelector"}),
                  sync::wire::child(path, "nodeSelector"));
  const std::int64_t grace = sync::wire::dig_int(spec, {"terminationGracePeriodSeconds"});
  if (grace < 0) {
    errors.push_back(sync::wire::field::invalid_raw(
        sync::wire::child(path, "terminationGracePeriodSeconds"), std::to_string(grace),
        "must be greater than or equal to 0"));
  }
  check_tolerations(errors, spec, path);
}

void check_pod_update(sync::wire::FieldErrors& errors, const json::object& pod,
                      const json::object& old) {
  json::object spec = sync::wire::dig_object(pod, {"spec"});
  const json::object& before = sync::wire::dig_object(old, {"spec"});
  for (const std::string_view list : {"containers", "initContainers"}) {
    if (sync::wire::dig_list(spec, {list}).size() != sync::wire::dig_list(before, {list}).size()) {
      errors.push_back(sync::wire::field::forbidden(
          sync::wire::child("spec", list), "pod updates may not add or remove containers"));
      return;
    }
    forget_images(spec, before, list);
  }
  for (const json::value& toleration : sync::wire::dig_list(before, {"tolerations"})) {
    if (has_toleration(sync::wire::dig_list(spec, {"tolerations"}), toleration)) continue;
    errors.push_back(
        sync::wire::field::forbidden("spec.tolerations",
                                     "existing toleration can not be modified except its "
                                     "tolerationSeconds"));
    break;
  }
  forget_lifted_gates(spec, before);
  for (const std::string_view free : {"tolerations", "activeDeadlineSeconds"}) {
    spec.erase(free);
    if (const json::value* value = before.if_contains(free)) spec[free] = *value;
  }
  if (spec != before)
    errors.push_back(sync::wire::field::forbidden("spec", std::string(update_rule)));
}

}  // namespace holdfast::agent::lab
