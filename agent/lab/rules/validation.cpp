#include "agent/lab/rules/validation.h"

#include <boost/json.hpp>

#include "agent/lab/rules/custom_definition.h"
#include "agent/lab/rules/custom_resource.h"
#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

using CheckName = sync::objects::Reasons (*)(std::string_view);

CheckName name_rule(const sync::printing::Resource& resource) {
  if (resource.kind == "Namespace") return sync::objects::check_dns1123_label;
  if (resource.kind == "Service") return sync::objects::check_dns1035_label;
  if (resource.kind == "StatefulSet") return sync::objects::check_dns1123_label;
  if (resource.group == "rbac.authorization.k8s.io") return sync::objects::check_path_segment;
  return sync::objects::check_dns1123_subdomain;
}

sync::StringMap to_map(const json::object& from) {
  sync::StringMap map;
  for (const auto& entry : from) map.set(entry.key(), sync::wire::as_text(entry.value()));
  return map;
}

void append(sync::wire::FieldErrors& errors, sync::wire::FieldErrors more) {
  for (sync::wire::FieldError& error : more) errors.push_back(std::move(error));
}

void check_owners(sync::wire::FieldErrors& errors, const json::object& metadata) {
  const json::array& owners = sync::wire::dig_list(metadata, {"ownerReferences"});
  for (std::size_t index = 0; index < owners.size(); ++index) {
    const std::string here = sync::wire::at("metadata.ownerReferences", index);
    const std::pair<std::string_view, std::string_view> needed[] = {
        {"apiVersion", "version must not be empty"},
        {"kind", "kind must not be empty"},
        {"name", "name must not be empty"},
        {"uid", "uid must not be empty"}};
    for (const auto& [part, why] : needed) {
      if (!sync::wire::dig_text(sync::wire::as_object(owners[index]), {part}).empty()) continue;
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, part), "", std::string(why)));
    }
  }
}

void check_metadata(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                    const json::object& object) {
  const json::object& metadata = sync::wire::dig_object(object, {"metadata"});
  const std::string_view name = sync::wire::name_of(object);
  if (name.empty()) {
    errors.push_back(
        sync::wire::field::required("metadata.name", "name or generateName is required"));
  } else {
    for (std::string& reason : name_rule(resource)(name)) {
      errors.push_back(sync::wire::field::invalid("metadata.name", name, std::move(reason)));
    }
  }
  const std::string_view space = sync::wire::namespace_of(object);
  if (resource.namespaced && space.empty())
    errors.push_back(sync::wire::field::required("metadata.namespace"));
  if (!resource.namespaced && !space.empty()) {
    errors.push_back(
        sync::wire::field::forbidden("metadata.namespace", "not allowed on this type"));
  }
  check_label_map(errors, sync::wire::dig_object(metadata, {"labels"}), "metadata.labels");
  append(errors,
         sync::objects::check_annotations(to_map(sync::wire::dig_object(metadata, {"annotations"})),
                                          "metadata.annotations"));
  check_owners(errors, metadata);
  for (const json::value& item : sync::wire::dig_list(metadata, {"finalizers"})) {
    for (std::string& reason : sync::objects::check_qualified_name(sync::wire::as_text(item))) {
      errors.push_back(sync::wire::field::invalid("metadata.finalizers", sync::wire::as_text(item),
                                                  std::move(reason)));
    }
  }
}

std::string go_selector(const json::object& selector) {
  return "v1.LabelSelector{MatchLabels:" +
         go_map(sync::wire::dig_object(selector, {"matchLabels"})) +
         ", MatchExpressions:[]v1.LabelSelectorRequirement(nil)}";
}

void check_selector_kept(sync::wire::FieldErrors& errors, const json::object& object,
                         const json::object& old) {
  const json::object& selector = sync::wire::dig_object(object, {"spec", "selector"});
  if (selector == sync::wire::dig_object(old, {"spec", "selector"})) return;
  errors.push_back(
      sync::wire::field::invalid_raw("spec.selector", go_selector(selector), "field is immutable"));
}

// The data of a ConfigMap or Secret marked immutable must not change.
void check_data_kept(sync::wire::FieldErrors& errors, const json::object& object,
                     const json::object& old) {
  if (!sync::wire::dig_bool(old, {"immutable"})) return;
  for (const std::string_view part : {"data", "binaryData"}) {
    if (sync::wire::dig_object(object, {part}) == sync::wire::dig_object(old, {part})) continue;
    errors.push_back(sync::wire::field::forbidden(std::string(part),
                                                  "field is immutable when `immutable` is set"));
  }
  if (!sync::wire::dig_bool(object, {"immutable"})) {
    errors.push_back(
        sync::wire::field::forbidden("immutable", "field is immutable when `immutable` is set"));
  }
}

void check_node_update(sync::wire::FieldErrors& errors, const json::object& node,
                       const json::object& old) {
  const std::string_view before = sync::wire::dig_text(old, {"spec", "podCIDR"});
  if (!before.empty() && before != sync::wire::dig_text(node, {"spec", "podCIDR"})) {
    errors.push_back(sync::wire::field::forbidden(
        "spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"));
  }
  const std::string_view provider = sync::wire::dig_text(old, {"spec", "providerID"});
  if (!provider.empty() && provider != sync::wire::dig_text(node, {"spec", "providerID"})) {
    errors.push_back(sync::wire::field::forbidden(
        "spec.providerID", "node updates may not change providerID except from \"\" to valid"));
  }
}

}  // namespace

void check_label_map(sync::wire::FieldErrors& errors, const json::object& labels,
                     const std::string& path) {
  append(errors, sync::objects::check_labels(to_map(labels), path));
}

void check_immutable(sync::wire::FieldErrors& errors, const json::object& object,
                     const json::object& old, std::string_view part, std::string_view field_name) {
  const json::value* now = part.empty() ? sync::wire::dig(object, {field_name})
                                        : sync::wire::dig(object, {part, field_name});
  const json::value* before =
      part.empty() ? sync::wire::dig(old, {field_name}) : sync::wire::dig(old, {part, field_name});
  const json::value empty;
  const json::value& left = now == nullptr ? empty : *now;
  const json::value& right = before == nullptr ? empty : *before;
  if (left == right) return;
  errors.push_back(sync::wire::field::invalid_raw(sync::wire::child(part, field_name),
                                                  json::serialize(left), "field is immutable"));
}

sync::wire::FieldErrors validate(const sync::printing::Resource& resource,
                                 const json::object& object) {
  sync::wire::FieldErrors errors;
  check_metadata(errors, resource, object);
  if (const CustomResource* custom = custom_of(resource)) {
    validate_custom(errors, *custom, object);
  } else if (resource.kind == "CustomResourceDefinition") {
    check_definition(errors, object);
  } else if (resource.kind == "Pod") {
    check_pod_spec(errors, sync::wire::dig_object(object, {"spec"}), "spec");
  } else if (resource.kind == "Job") {
    check_job(errors, object);
  } else if (resource.group == "apps" && resource.kind != "ControllerRevision") {
    check_workload(errors, resource, object);
  } else if (resource.group == "rbac.authorization.k8s.io") {
    check_roles(errors, resource, object);
  } else {
    check_config(errors, resource, object);
  }
  return errors;
}

sync::wire::FieldErrors validate_update(const sync::printing::Resource& resource,
                                        const json::object& object, const json::object& old) {
  sync::wire::FieldErrors errors;
  if (resource.is_custom) return errors;
  const std::string_view kind = resource.kind;
  if (kind == "CustomResourceDefinition") check_definition_update(errors, object, old);
  if (kind == "Pod") check_pod_update(errors, object, old);
  if (resource.group == "apps" && kind != "StatefulSet") check_selector_kept(errors, object, old);
  if (kind == "StatefulSet") check_stateful_set_update(errors, object, old);
  if (kind == "Job") check_job_update(errors, object, old);
  if (kind == "ControllerRevision") check_immutable(errors, object, old, "", "data");
  if (kind.ends_with("RoleBinding")) check_role_reference_kept(errors, object, old);
  if (kind == "ConfigMap" || kind == "Secret") check_data_kept(errors, object, old);
  if (kind == "Secret") check_immutable(errors, object, old, "", "type");
  if (kind == "Node") check_node_update(errors, object, old);
  if (kind == "RuntimeClass") check_immutable(errors, object, old, "", "handler");
  if (kind == "PriorityClass") check_immutable(errors, object, old, "", "value");
  const bool has_address = !sync::wire::dig_text(old, {"spec", "clusterIP"}).empty() &&
                           sync::wire::dig_text(object, {"spec", "type"}) != "ExternalName";
  if (kind == "Service" && has_address) {
    check_immutable(errors, object, old, "spec", "clusterIP");
  }
  return errors;
}

}  // namespace holdfast::agent::lab
