#include "agent/lab/rules/strategy.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/custom_definition.h"
#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/defaults.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view namespace_differs =
    "the namespace of the provided object does not match the namespace sent on the request";

// Metadata that only the server writes.
constexpr std::string_view server_fields[] = {
    "name",      "generateName",      "namespace",         "selfLink",
    "uid",       "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generation"};

void copy_field(json::object& to, const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr) {
    to.erase(name);
  } else {
    to[name] = *value;
  }
}

void start_status(const sync::printing::Resource& resource, json::object& object) {
  if (resource.is_custom) {
    if (resource.has_status()) object.erase("status");
  } else if (resource.kind == "Pod") {
    json::object status = {{"phase", "Pending"}, {"qosClass", qos_class(object)}};
    object["status"] = std::move(status);
  } else if (resource.kind == "Namespace") {
    object["status"] = json::object{{"phase", "Active"}};
    json::object& spec = sync::wire::make_object(object, {"spec"});
    if (sync::wire::dig_list(spec, {"finalizers"}).empty()) {
      spec["finalizers"] = json::array({"kubernetes"});
    }
  } else if (resource.has_status() && resource.kind != "Node") {
    object["status"] = json::object();  // Only nodes may set their status when they are created.
  }
}

// A new node has the not-ready taint until its conditions say otherwise.
void admit_node(json::object& node) {
  json::value& taints = sync::wire::make_object(node, {"spec"})["taints"];
  if (!taints.is_array()) taints.emplace_array();
  for (const json::value& taint : taints.get_array()) {
    if (sync::wire::dig_text(sync::wire::as_object(taint), {"key"}) ==
        "node.kubernetes.io/not-ready")
      return;
  }
  const json::object taint = {{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
  taints.get_array().push_back(taint);
}

sync::wire::ApiStatus wrong_name(std::string_view given, std::string_view wanted) {
  return sync::wire::status::bad_request("the name of the object (" + std::string(given) +
                                         ") does not match the name on the URL (" +
                                         std::string(wanted) + ")");
}

sync::wire::GroupResource named(const sync::printing::Resource& resource) {
  return {resource.group, resource.plural};
}

// The refusal of an object that contradicts the URL or the stored object.
std::optional<sync::wire::ApiStatus> contradiction(const sync::printing::Resource& resource,
                                                   const json::object& object,
                                                   const json::object& old, const Target& target) {
  if (sync::wire::name_of(object) != target.name)
    return wrong_name(sync::wire::name_of(object), target.name);
  if (sync::wire::namespace_of(object) != target.name_space) {
    return sync::wire::status::bad_request(std::string(namespace_differs));
  }
  const std::string_view uid = sync::wire::uid_of(object);
  if (!uid.empty() && uid != sync::wire::uid_of(old)) {
    return sync::wire::status::conflict(
        named(resource), target.name,
        "Precondition failed: UID in precondition: " + std::string(uid) +
            ", UID in object meta: " + std::string(sync::wire::uid_of(old)));
  }
  const std::string_view version = sync::wire::version_of(object);
  if (!version.empty() && version != sync::wire::version_of(old)) {
    return sync::wire::status::conflict(named(resource), target.name);
  }
  return std::nullopt;
}

// All of a custom resource but its metadata, and its status if it is written separately.
json::object custom_desire(const sync::printing::Resource& resource, json::object object) {
  object.erase("metadata");
  if (resource.has_status()) object.erase("status");
  return object;
}

// Whether an update changes the desired state.
bool changes_desire(const sync::printing::Resource& resource, const json::object& object,
                    const json::object& old) {
  if (resource.is_custom) return custom_desire(resource, object) != custom_desire(resource, old);
  if (sync::wire::dig_object(object, {"spec"}) != sync::wire::dig_object(old, {"spec"}))
    return true;
  return resource.kind == "Deployment" &&
         sync::wire::dig_object(object, {"metadata", "annotations"}) !=
             sync::wire::dig_object(old, {"metadata", "annotations"});
}

std::int64_t default_grace(const sync::printing::Resource& resource, const json::object& object,
                           const DeleteOptions& options) {
  if (resource.is_custom || resource.kind != "Pod") return 0;
  if (sync::wire::dig_text(object, {"spec", "nodeName"}).empty()) return 0;
  const std::string_view phase = sync::wire::dig_text(object, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return 0;
  const std::int64_t own = sync::wire::dig_int(object, {"spec", "terminationGracePeriodSeconds"});
  const std::int64_t grace = options.grace_seconds.value_or(own);
  return grace < 0 ? 1 : grace;
}

bool is_definition(const sync::printing::Resource& resource) {
  return resource.kind == "CustomResourceDefinition" && !resource.is_custom;
}

json::object mark(const sync::printing::Resource& resource, const json::object& object,
                  WallTime when, std::int64_t grace) {
  json::object marked = object;
  json::object& metadata = sync::wire::make_object(marked, {"metadata"});
  const std::int64_t generation = sync::wire::dig_int(metadata, {"generation"});
  const bool first = sync::wire::dig(metadata, {"deletionTimestamp"}) == nullptr;
  if (first && generation > 0) metadata["generation"] = generation + 1;
  metadata["deletionTimestamp"] = format_rfc3339(when);
  metadata["deletionGracePeriodSeconds"] = grace;
  if (first && is_definition(resource)) {
    json::array finalizers = sync::wire::dig_list(metadata, {"finalizers"});
    finalizers.push_back(json::value(definition_finalizer));
    metadata["finalizers"] = std::move(finalizers);
  }
  if (resource.kind == "Namespace")
    sync::wire::make_object(marked, {"status"})["phase"] = "Terminating";
  return canonical(resource, std::move(marked));
}

bool has_finalizers(const sync::printing::Resource& resource, const json::object& object) {
  if (!sync::wire::dig_list(object, {"metadata", "finalizers"}).empty()) return true;
  // A definition gets its finalizer with its deletion.
  if (is_definition(resource) && !sync::wire::is_terminating(object)) return true;
  return !resource.is_custom && resource.kind == "Namespace" &&
         !sync::wire::dig_list(object, {"spec", "finalizers"}).empty();
}

// A deletion of an object that is already being deleted only has an effect if it shortens the grace
// period.
Deletion shorten_grace_period(const sync::printing::Resource& resource, const json::object& object,
                              const DeleteOptions& options) {
  const std::int64_t grace =
      sync::wire::dig_int(object, {"metadata", "deletionGracePeriodSeconds"});
  if (!options.grace_seconds || *options.grace_seconds >= grace) {
    return {std::nullopt, grace == 0 && !has_finalizers(resource, object)};
  }
  const std::int64_t wanted = std::max<std::int64_t>(*options.grace_seconds, 0);
  const auto due = parse_rfc3339(sync::wire::dig_text(object, {"metadata", "deletionTimestamp"}));
  const WallTime when = due.value_or(WallTime{}) + std::chrono::seconds(wanted - grace);
  return {mark(resource, object, when, wanted), wanted == 0 && !has_finalizers(resource, object)};
}

}  // namespace

std::string generate_name(std::string_view base, Random& random) {
  constexpr std::size_t most = 58;  // with the five random characters, 63
  return std::string(base.substr(0, most)) + random.text(5, "bcdfghjklmnpqrstvwxz2456789");
}

Answer<json::object> prepare_create(const sync::printing::Resource& resource, json::object object,
                                    const Target& target, WallTime now, Random& random) {
  json::object& metadata = sync::wire::make_object(object, {"metadata"});
  if (!sync::wire::dig_text(metadata, {"resourceVersion"}).empty()) {
    return refuse(sync::wire::status::unexplained(
        "resourceVersion should not be set on objects to be created"));
  }
  const std::string_view space = sync::wire::dig_text(metadata, {"namespace"});
  if (!space.empty() && space != target.name_space) {
    return refuse(sync::wire::status::bad_request(std::string(namespace_differs)));
  }
  if (resource.namespaced) metadata["namespace"] = target.name_space;
  const std::string base(sync::wire::dig_text(metadata, {"generateName"}));
  if (sync::wire::dig_text(metadata, {"name"}).empty() && !base.empty()) {
    metadata["name"] = generate_name(base, random);
  }
  metadata["uid"] = random.uuid();
  metadata["creationTimestamp"] = format_rfc3339(now);
  for (const std::string_view field :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"}) {
    metadata.erase(field);
  }
  if (resource.counts_generation) metadata["generation"] = 1;
  start_status(resource, object);
  if (resource.kind == "Node") admit_node(object);
  if (resource.kind == "Job") select_own_pods(object);
  return canonical(resource, std::move(object));
}

Answer<json::object> prepare_update(const sync::printing::Resource& resource, json::object object,
                                    const json::object& old, const Target& target, Part part) {
  json::object& metadata = sync::wire::make_object(object, {"metadata"});
  if (sync::wire::dig_text(metadata, {"namespace"}).empty() && resource.namespaced) {
    metadata["namespace"] = target.name_space;
  }
  if (const auto refused = contradiction(resource, object, old, target)) return refuse(*refused);
  const json::object& before = sync::wire::dig_object(old, {"metadata"});
  for (const std::string_view field : server_fields) copy_field(metadata, before, field);
  if (part == Part::status && resource.is_custom) {
    json::object made = old;
    copy_field(made, object, "status");
    sync::wire::make_object(made, {"metadata"})["managedFields"] =
        sync::wire::dig_list(metadata, {"managedFields"});
    object = std::move(made);
  } else if (part == Part::status) {
    copy_field(object, old, "spec");
    copy_field(metadata, before, "ownerReferences");
    if (resource.group == "apps") copy_field(metadata, before, "labels");
  } else if (resource.has_status()) {
    copy_field(object, old, "status");
    if (resource.kind == "Namespace") copy_field(object, old, "spec");
  }
  sync::wire::make_object(object, {"metadata"}).erase("resourceVersion");
  json::object made = canonical(resource, std::move(object));
  const bool counts = part == Part::object && resource.counts_generation;
  if (counts && changes_desire(resource, made, old)) {
    const std::int64_t generation = sync::wire::dig_int(old, {"metadata", "generation"});
    sync::wire::make_object(made, {"metadata"})["generation"] = generation + 1;
  }
  return made;
}

bool needs_version(const sync::printing::Resource& resource) {
  if (resource.is_custom || resource.kind == "CustomResourceDefinition") return true;
  constexpr std::string_view kinds[] = {"Lease", "PodDisruptionBudget", "CSINode", "RuntimeClass"};
  return std::find(std::begin(kinds), std::end(kinds), resource.kind) != std::end(kinds);
}

bool creates_on_update(const sync::printing::Resource& resource) {
  if (resource.is_custom) return false;
  return resource.kind == "Lease" || resource.kind == "Endpoints" || resource.kind == "Event";
}

bool returns_deleted(const sync::printing::Resource& resource) {
  if (resource.is_custom) return false;
  constexpr std::string_view kinds[] = {"Pod", "Service", "ServiceAccount", "PersistentVolume",
                                        "PersistentVolumeClaim"};
  return std::find(std::begin(kinds), std::end(kinds), resource.kind) != std::end(kinds);
}

Answer<bool> check_preconditions(const sync::printing::Resource& resource,
                                 const json::object& object, const DeleteOptions& options) {
  const sync::wire::GroupResource kind{"", resource.kind};
  if (options.uid && *options.uid != sync::wire::uid_of(object)) {
    return refuse(sync::wire::status::conflict(
        kind, sync::wire::name_of(object),
        "the UID in the precondition (" + *options.uid + ") does not match the UID in record (" +
            std::string(sync::wire::uid_of(object)) +
            "). The object might have been deleted and then recreated"));
  }
  if (options.resource_version && *options.resource_version != sync::wire::version_of(object)) {
    return refuse(sync::wire::status::conflict(
        kind, sync::wire::name_of(object),
        "the ResourceVersion in the precondition (" + *options.resource_version +
            ") does not match the ResourceVersion in record (" +
            std::string(sync::wire::version_of(object)) +
            "). The object might have been modified"));
  }
  return true;
}

Deletion plan_deletion(const sync::printing::Resource& resource, const json::object& object,
                       const DeleteOptions& options, WallTime now) {
  if (sync::wire::is_terminating(object)) return shorten_grace_period(resource, object, options);
  const std::int64_t grace = default_grace(resource, object, options);
  const bool finalizers = has_finalizers(resource, object);
  // Only pods have graceful deletion, but an object with finalizers must stay visible until they
  // are removed.
  const bool graceful = resource.kind == "Pod" && !resource.is_custom;
  if (!graceful && !finalizers) return {std::nullopt, true};
  const WallTime due = now + std::chrono::seconds(grace);
  return {mark(resource, object, due, grace), grace == 0 && !finalizers};
}

bool is_deletable(const sync::printing::Resource& resource, const json::object& object) {
  return sync::wire::is_terminating(object) && !has_finalizers(resource, object) &&
         sync::wire::dig_int(object, {"metadata", "deletionGracePeriodSeconds"}) == 0;
}

}  // namespace holdfast::agent::lab
