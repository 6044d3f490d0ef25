// scale, binding, eviction and finalize.

#include <boost/json.hpp>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/loops/budgets.h"
#include "agent/lab/rules/matching.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/patch/patch.h"
#include "sync/objects/typed.h"
#include "sync/printing/cells.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// Where a resource has its replicas, as simple JSON paths.
struct ScalePaths {
  std::string spec = ".spec.replicas";
  std::string status = ".status.replicas";
  std::string selector = {};  // "": the LabelSelector spec.selector
};

ScalePaths scale_paths(const Call& call) {
  if (!call.view.custom) return {};
  const json::object& version = call.view.custom->version_of(call.view.version->name);
  const json::object& scale = sync::wire::dig_object(version, {"subresources", "scale"});
  return {std::string(sync::wire::dig_text(scale, {"specReplicasPath"})),
          std::string(sync::wire::dig_text(scale, {"statusReplicasPath"})),
          std::string(sync::wire::dig_text(scale, {"labelSelectorPath"}))};
}

std::int64_t number_at(const json::object& object, const std::string& path) {
  const json::value* found = value_at(object, path);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

// Sets a value at a path of fields; missing objects on the way are created.
void set_at(json::object& object, std::string_view path, json::value value) {
  json::object* here = &object;
  std::string_view last;
  for (const std::string_view step : split(path, '.')) {
    if (step.empty()) continue;
    if (!last.empty()) here = &sync::wire::make_object(*here, {last});
    last = step;
  }
  if (!last.empty()) (*here)[last] = std::move(value);
}

json::object scale_of(const Call& call, const json::object& workload) {
  const ScalePaths paths = scale_paths(call);
  const json::object& metadata = sync::wire::dig_object(workload, {"metadata"});
  json::object about;
  for (const std::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const json::value* value = metadata.if_contains(field)) about[field] = *value;
  }
  std::string selector =
      sync::printing::format_selector(sync::wire::dig_object(workload, {"spec", "selector"}));
  if (call.view.custom) {
    const json::value* found = value_at(workload, paths.selector);
    selector = found == nullptr ? "<none>" : sync::wire::as_text(*found);
  }
  json::object status = {{"replicas", number_at(workload, paths.status)}};
  if (selector != "<none>") status["selector"] = selector;
  json::object scale = {{"metadata", std::move(about)}};
  scale["spec"] = json::object{{"replicas", number_at(workload, paths.spec)}};
  scale["status"] = std::move(status);
  auto shaped = sync::objects::shape(sync::known_type("Scale"), scale, "Scale", "autoscaling/v1");
  CHECK(shaped.has_value());
  return std::move(shaped->object);
}

http::Response reply_scale(const Call& call, const Stored& stored) {
  return reply_json(200, sync::wire::serialize(scale_of(call, stored.object)) + "\n");
}

// The Scale that a PUT or PATCH wants.
Answer<json::object> wanted_scale(const Call& call, const json::object& workload) {
  if (call.info.verb == "update") return read_as(call, sync::known_type("Scale"), "Scale");
  const auto type = sync::objects::parse_patch_type(call.request.headers.get("Content-Type"));
  if (!type) return refuse(sync::wire::status::generic(415));
  auto made = sync::objects::apply_patch(
      *type == sync::objects::PatchType::strategic ? sync::objects::PatchType::merge : *type,
      "Scale", json::value(scale_of(call, workload)), call.request.body);
  if (!made) return refuse(made.error());
  auto decoded = decode_as(sync::known_type("Scale"), "Scale", *made, call.validation);
  if (!decoded) return refuse(decoded.error());
  return std::move(decoded->object);
}

// The pod with the node and the annotations of the Binding.
json::object bound(const json::object& pod, const json::object& binding, WallTime now) {
  json::object made = pod;
  sync::wire::make_object(made, {"spec"})["nodeName"] =
      sync::wire::dig_text(binding, {"target", "name"});
  for (const auto& note : sync::wire::dig_object(binding, {"metadata", "annotations"})) {
    sync::wire::make_object(made, {"metadata", "annotations"})[note.key()] = note.value();
  }
  const json::object scheduled = {{"type", "PodScheduled"}, {"status", "True"}};
  set_condition(sync::wire::make_object(made, {"status"}), scheduled, format_rfc3339(now));
  return made;
}

sync::wire::ApiStatus eviction_refused(const json::object& budget, EvictionDecision decision) {
  const std::string name(sync::wire::name_of(budget));
  const std::string why =
      decision == EvictionDecision::outdated
          ? "The disruption budget " + name + " is still being processed by the server."
          : "The disruption budget " + name + " needs " +
                std::to_string(sync::wire::dig_int(budget, {"status", "desiredHealthy"})) +
                " healthy pods and has " +
                std::to_string(sync::wire::dig_int(budget, {"status", "currentHealthy"})) +
                " currently";
  sync::wire::ApiStatus status = sync::wire::status::too_many_requests(
      "Cannot evict pod as it would violate the pod's disruption budget.", 0);
  status.details->causes.push_back({"DisruptionBudget", why, ""});
  return status;
}

// Records the eviction in the pod's disruption budget. Refuses if the budget does not allow it.
Answer<bool> charge_budget(Backend& backend, const json::object& pod, bool dry_run) {
  const sync::printing::Resource* budgets =
      sync::printing::find_kind("policy", "PodDisruptionBudget");
  std::vector<StoredPtr> covering;
  for (const StoredPtr& stored : backend.registry.list(*budgets, sync::wire::namespace_of(pod))) {
    if (covers(stored->object, pod)) covering.push_back(stored);
  }
  if (covering.empty()) return true;
  if (covering.size() > 1) {
    return refuse(sync::wire::status::internal_error(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support."));
  }
  const json::object& budget = covering.front()->object;
  const EvictionDecision decision = decide_eviction(budget);
  if (decision != EvictionDecision::allowed) return refuse(eviction_refused(budget, decision));
  if (dry_run) return true;
  const std::string now = format_rfc3339(backend.clock.wall());
  const auto change = [&pod, &now](const json::object& old) -> Answer<json::object> {
    json::object made = old;
    made["status"] = record_eviction(old, sync::wire::name_of(pod), now);
    return made;
  };
  const Target target{sync::wire::namespace_of(budget), sync::wire::name_of(budget)};
  const auto charged = backend.editor.update(*budgets, target, Part::status, change);
  if (!charged) return refuse(charged.error());
  return true;
}

Answer<DeleteOptions> eviction_options(const Call& call, const json::object& eviction) {
  DeleteOptions options;
  options.dry_run = call.dry_run;
  const json::object& given = sync::wire::dig_object(eviction, {"deleteOptions"});
  if (sync::wire::dig(given, {"gracePeriodSeconds"}) != nullptr) {
    options.grace_seconds = sync::wire::dig_int(given, {"gracePeriodSeconds"});
  }
  if (sync::wire::dig(given, {"preconditions", "uid"}) != nullptr) {
    options.uid = sync::wire::dig_text(given, {"preconditions", "uid"});
  }
  if (!sync::wire::dig_list(given, {"dryRun"}).empty()) options.dry_run = true;
  return options;
}

}  // namespace

Reply get_scale(Backend& backend, const Call& call) {
  const StoredPtr stored = backend.registry.find(call.stored(), call.name_space(), call.info.name);
  if (!stored) return refuse(missing(call.resource(), call.info.name));
  return reply_scale(call, *stored);
}

Reply change_scale(Backend& backend, const Call& call) {
  const auto change = [&call](const json::object& old) -> Answer<json::object> {
    const auto scale = wanted_scale(call, old);
    if (!scale) return refuse(scale.error());
    const std::string_view version = sync::wire::version_of(*scale);
    if (!version.empty() && version != sync::wire::version_of(old)) {
      return refuse(sync::wire::status::conflict({call.resource().group, call.resource().plural},
                                                 call.info.name));
    }
    json::object made = old;
    set_at(made, scale_paths(call).spec,
           json::value(sync::wire::dig_int(*scale, {"spec", "replicas"})));
    return made;
  };
  const auto stored = backend.editor.update(call.stored(), call.target(), Part::object, change,
                                            call.dry_run, call.author());
  if (!stored) return refuse(stored.error());
  return reply_scale(call, **stored);
}

Reply bind(Backend& backend, const Call& call) {
  const auto binding = read_as(call, sync::known_type("Binding"), "Binding");
  if (!binding) return refuse(binding.error());
  const std::string name(call.info.name.empty() ? sync::wire::name_of(*binding) : call.info.name);
  const sync::printing::Resource* pods = sync::printing::find_kind("", "Pod");
  const StoredPtr old = backend.registry.find(*pods, call.name_space(), name);
  if (!old) return refuse(missing(*pods, name));
  const sync::wire::GroupResource about{"", "pods/binding"};
  const std::string_view node = sync::wire::dig_text(old->object, {"spec", "nodeName"});
  const std::string_view uid = sync::wire::uid_of(*binding);
  if (!uid.empty() && uid != sync::wire::uid_of(old->object)) {
    return refuse(sync::wire::status::conflict(
        about, name,
        "Precondition failed: UID in precondition: " + std::string(uid) +
            ", UID in object meta: " + std::string(sync::wire::uid_of(old->object))));
  }
  if (sync::wire::is_terminating(old->object)) {
    return refuse(sync::wire::status::conflict(
        about, name, "pod " + name + " is being deleted, cannot be assigned to a host"));
  }
  if (!node.empty()) {
    return refuse(sync::wire::status::conflict(
        about, name, "pod " + name + " is already assigned to node \"" + std::string(node) + "\""));
  }
  if (sync::wire::dig_text(*binding, {"target", "name"}).empty()) {
    const sync::wire::FieldError error = sync::wire::field::required("target.name");
    return refuse(sync::wire::status::invalid({"", "Binding"}, name, std::span(&error, 1)));
  }
  if (!call.dry_run) {
    json::object made = bound(old->object, *binding, backend.clock.wall());
    const auto stored = backend.editor.replace(*pods, canonical(*pods, std::move(made)), old);
    if (!stored) return refuse(stored.error());
  }
  return reply_status(sync::wire::status::success(201));
}

Reply evict(Backend& backend, const Call& call) {
  const auto eviction = read_as(call, sync::known_type("Eviction"), "Eviction");
  if (!eviction) return refuse(eviction.error());
  const auto options = eviction_options(call, *eviction);
  if (!options) return refuse(options.error());
  const StoredPtr pod = backend.registry.find(call.stored(), call.name_space(), call.info.name);
  if (auto fine = admit_write(backend, call, &*eviction, nullptr); !fine) {
    return refuse(fine.error());
  }
  std::vector<std::string> warnings;
  if (sync::wire::dig_text(*eviction, {"apiVersion"}) == "policy/v1beta1") {
    warnings.emplace_back("policy/v1beta1 Eviction is deprecated in v1.22+, unavailable in v1.25+");
  }
  Answer<bool> allowed = true;
  if (!pod) return refuse(missing(call.resource(), call.info.name));
  const bool counts = !is_finished(pod->object) && !sync::wire::is_terminating(pod->object) &&
                      sync::wire::dig_text(pod->object, {"status", "phase"}) != "Pending";
  if (counts) allowed = charge_budget(backend, pod->object, options->dry_run);
  http::Response response;
  if (!allowed) {
    response = reply_status(allowed.error());
  } else {
    const auto removed = backend.editor.remove(call.stored(), call.target(), *options);
    if (!removed) return refuse(removed.error());
    response = reply_status(sync::wire::status::success(201));
  }
  add_warnings(response, warnings);
  return response;
}

Reply finalize(Backend& backend, const Call& call) {
  const auto wanted = read_as(call, sync::known_type("Namespace"), "Namespace");
  if (!wanted) return refuse(wanted.error());
  const StoredPtr old = backend.registry.find(call.stored(), {}, call.info.name);
  if (!old) return refuse(missing(call.resource(), call.info.name));
  json::object made = old->object;
  sync::wire::make_object(made, {"spec"})["finalizers"] =
      sync::wire::dig_list(*wanted, {"spec", "finalizers"});
  const auto stored =
      backend.editor.replace(call.stored(), canonical(call.stored(), std::move(made)), old);
  if (!stored) return refuse(stored.error());
  return reply_object(200, call, **stored, backend.clock.wall());
}

}  // namespace holdfast::agent::lab
