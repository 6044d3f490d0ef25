#include "sync/autonomy/housekeeping.h"

#include "platform/check.h"
#include "sync/api/json.h"

namespace holdfast::sync {
namespace {

// Collects names from anywhere in a pod's spec. Which field holds which kind: volumes, environment
// and pull secrets of core/v1, and what CSI and older volume plugins call theirs.
class Collector {
 public:
  Collector(std::string namespace_name, PodReferences& references)
      : namespace_(std::move(namespace_name)), references_(references) {}

  void visit(std::string_view field, const json::value& value) {
    if (const json::array* items = value.if_array()) {
      for (const json::value& item : *items) visit(field, item);
      return;
    }
    if (const json::string* text = value.if_string()) {
      if (field == "secretName") add("secrets", std::string_view(*text));
      return;
    }
    const json::object* object = value.if_object();
    if (object == nullptr) return;
    const bool config = field.starts_with("configMap");  // itself, ...Ref, ...KeyRef
    const bool secret = field.starts_with("secret") || field.ends_with("SecretRef") ||
                        field.ends_with("SecretKeyRef") || field == "imagePullSecrets";
    if (config || secret) add_name(config ? "configmaps" : "secrets", *object);
    for (const auto& each : *object) visit(each.key(), each.value());
  }

 private:
  void add_name(const char* resource, const json::object& object) {
    const json::value* name = object.if_contains("name");
    if (name != nullptr && name->is_string()) add(resource, std::string_view(name->get_string()));
  }
  void add(const char* resource, std::string_view name) {
    references_.insert({resource, namespace_, std::string(name)});
  }

  std::string namespace_;
  PodReferences& references_;
};

}  // namespace

Status add_references(std::string_view pod, PodReferences& references) {
  TRY(const json::value value, parse_json(pod));
  const json::object* object = value.if_object();
  if (object == nullptr) return fail(Errc::invalid, "a pod is an object");
  const json::value* metadata = object->if_contains("metadata");
  const json::object* names = metadata == nullptr ? nullptr : metadata->if_object();
  const json::value* space = names == nullptr ? nullptr : names->if_contains("namespace");
  if (space == nullptr || !space->is_string()) return fail(Errc::invalid, "a pod has a namespace");
  const json::value* spec = object->if_contains("spec");
  if (spec == nullptr) return {};
  Collector(std::string(space->get_string()), references).visit("spec", *spec);
  return {};
}

std::string_view to_string(Leftover leftover) {
  switch (leftover) {
    case Leftover::no:
      return "no";
    case Leftover::unused:
      return "unused";
    case Leftover::foreign:
      return "foreign";
    case Leftover::events:
      return "events";
    case Leftover::orphaned:
      return "orphaned";
  }
  UNREACHABLE();
}

Leftover judge_scope(const ScopeUse& use, const PodReferences* references,
                     const HousekeepingLimits& limits) {
  if (use.watched || use.owes) return Leftover::no;
  const bool of_pods = use.resource == "secrets" || use.resource == "configmaps";
  if (of_pods && !use.name.empty() && references != nullptr && use.idle_in_run >= limits.orphaned &&
      !references->contains({use.resource, use.namespace_name, use.name})) {
    return Leftover::orphaned;
  }
  if (use.idle_in_run < limits.settled) return Leftover::no;
  if (use.resource == "events" && use.idle_by_calendar >= limits.events_unused) {
    return Leftover::events;
  }
  if (use.foreign && use.idle_by_calendar >= limits.foreign_unused) return Leftover::foreign;
  return use.idle_by_calendar >= limits.unused ? Leftover::unused : Leftover::no;
}

int trim_step(const FilePages& pages, Duration idle, const HousekeepingLimits& limits) {
  if (idle < limits.trim_idle) return 0;
  const bool worth = pages.free >= limits.trim_from_pages && pages.free >= pages.total / 4;
  return worth ? limits.trim_pages : 0;
}

}  // namespace holdfast::sync
