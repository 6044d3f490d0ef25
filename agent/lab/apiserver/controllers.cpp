#include "agent/lab/apiserver/controllers.h"

#include <boost/json.hpp>

#include "agent/lab/loops/budgets.h"
#include "agent/lab/loops/garbage_collection.h"
#include "agent/lab/rules/custom_definition.h"
#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/matching.h"
#include "platform/log.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::size_t finished_pods_kept = 12500;  // upstream's --terminated-pod-gc-threshold

constexpr std::string_view namespaces[] = {"default", "kube-node-lease", "kube-public",
                                           "kube-system"};

Target target_of(const json::object& object) {
  return {sync::wire::namespace_of(object), sync::wire::name_of(object)};
}

// Compares the parts of two nodes that matter for DaemonSet pods.
bool same_for_pods(const json::object& left, const json::object& right) {
  return sync::wire::dig_object(left, {"spec"}) == sync::wire::dig_object(right, {"spec"}) &&
         sync::wire::dig_object(left, {"metadata", "labels"}) ==
             sync::wire::dig_object(right, {"metadata", "labels"}) &&
         sync::wire::dig_object(left, {"status", "allocatable"}) ==
             sync::wire::dig_object(right, {"status", "allocatable"}) &&
         condition_status(left, "Ready") == condition_status(right, "Ready");
}

}  // namespace

bool Controllers::may_cause_work(const Change& change) {
  const std::string_view kind = sync::wire::dig_text(change.seen->object, {"kind"});
  if (kind == "Lease" || kind == "Event") return false;
  if (kind == "Node" && change.now && change.before) {
    return !same_for_pods(change.now->object, change.before->object);
  }
  return true;
}

std::vector<StoredPtr> Controllers::list(std::string_view group, std::string_view kind,
                                         std::string_view name_space) {
  return editor_.registry().list(sync::printing::known_kind(group, kind), name_space);
}

void Controllers::create(std::string_view group, std::string_view kind, json::object object) {
  const sync::printing::Resource& resource = sync::printing::known_kind(group, kind);
  const std::string space(sync::wire::namespace_of(object));
  const auto made = editor_.create(resource, canonical(resource, std::move(object)), space);
  if (!made && made.error().reason != "AlreadyExists") {
    log_warn("controller create", {{"kind", kind}, {"why", made.error().message}});
  }
}

void Controllers::remove(std::string_view group, std::string_view kind, const json::object& object,
                         const DeleteOptions& options) {
  remove(sync::printing::known_kind(group, kind), object, options);
}

void Controllers::remove(const sync::printing::Resource& resource, const json::object& object,
                         const DeleteOptions& options) {
  const auto removed = editor_.remove(resource, target_of(object), options);
  if (!removed && removed.error().reason != "NotFound") {
    log_warn("controller delete", {{"kind", resource.kind}, {"why", removed.error().message}});
  }
}

void Controllers::set_status(std::string_view group, std::string_view kind,
                             const json::object& object, const json::object& status) {
  const auto change = [&status](const json::object& old) -> Answer<json::object> {
    json::object made = old;
    made["status"] = status;
    return made;
  };
  const auto written = editor_.update(sync::printing::known_kind(group, kind), target_of(object),
                                      Part::status, change);
  if (!written) {
    log_warn("controller status", {{"kind", kind}, {"why", written.error().message}});
  }
}

void Controllers::pass() {
  due_.reset();
  create_service_accounts();
  roll_deployments();
  fill_replica_sets();
  fill_daemon_sets();
  fill_stateful_sets();
  run_jobs();
  release_pods();
  aggregate_roles();
  collect_pod_garbage();
  collect_orphans();
  update_budgets();
  empty_namespaces();
  empty_definitions();
}

void Controllers::create_namespaces() {
  for (const std::string_view name : namespaces) {
    if (editor_.registry().find(sync::printing::known_kind("", "Namespace"), {}, name)) continue;
    create("", "Namespace", {{"metadata", json::object{{"name", name}}}});
  }
}

void Controllers::create_service_accounts() {
  for (const StoredPtr& space : list("", "Namespace")) {
    const std::string_view name = sync::wire::name_of(space->object);
    if (sync::wire::is_terminating(space->object)) continue;
    create_root_ca(name);
    if (editor_.registry().find(sync::printing::known_kind("", "ServiceAccount"), name, "default"))
      continue;
    create("", "ServiceAccount",
           {{"metadata", json::object{{"name", "default"}, {"namespace", name}}}});
  }
}

void Controllers::create_root_ca(std::string_view name_space) {
  constexpr std::string_view name = "kube-root-ca.crt";
  if (root_ca_.empty()) return;
  if (editor_.registry().find(sync::printing::known_kind("", "ConfigMap"), name_space, name))
    return;
  create("", "ConfigMap",
         {{"metadata", json::object{{"name", name}, {"namespace", name_space}}},
          {"data", json::object{{"ca.crt", root_ca_}}}});
}

void Controllers::collect_pod_garbage() {
  Names nodes;
  for (const StoredPtr& node : list("", "Node")) nodes.emplace(sync::wire::name_of(node->object));
  const std::vector<StoredPtr> pods = list("", "Pod");
  Objects all;
  for (const StoredPtr& pod : pods) all.push_back(&pod->object);
  for (const json::object* pod : all) {
    const PodGcAction what = pod_gc_action(*pod, nodes);
    if (what == PodGcAction::keep) continue;
    DeleteOptions options;
    if (what == PodGcAction::force) options.grace_seconds = 0;
    remove("", "Pod", *pod, options);
  }
  for (const json::object* pod : finished_beyond(all, finished_pods_kept)) {
    remove("", "Pod", *pod);
  }
}

void Controllers::collect_orphans() {
  Names uids;
  std::vector<StoredPtr> owned;
  for (const auto& [key, stored] : editor_.registry().all()) {
    uids.emplace(sync::wire::uid_of(stored->object));
    const bool has_owner =
        !sync::wire::dig_list(stored->object, {"metadata", "ownerReferences"}).empty();
    if (has_owner) owned.push_back(stored);
  }
  for (const StoredPtr& stored : owned) {
    if (!is_orphan(stored->object, uids)) continue;
    const std::string_view api_version = sync::wire::dig_text(stored->object, {"apiVersion"});
    const std::size_t slash = api_version.find('/');
    const std::string_view group =
        slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
    const auto* resource = editor_.registry().catalog().find_kind(
        group, sync::wire::dig_text(stored->object, {"kind"}));
    if (resource != nullptr) remove(*resource, stored->object, {});
  }
}

void Controllers::update_budgets() {
  for (const StoredPtr& budget : list("policy", "PodDisruptionBudget")) {
    const std::vector<StoredPtr> pods = list("", "Pod", sync::wire::namespace_of(budget->object));
    Objects all;
    std::set<std::string> owners;
    std::int64_t expected = 0;
    for (const StoredPtr& pod : pods) {
      all.push_back(&pod->object);
      if (!covers(budget->object, pod->object)) continue;
      const json::object& owner = sync::wire::controller_of(pod->object);
      const std::string_view kind = sync::wire::dig_text(owner, {"kind"});
      const bool counted = kind == "ReplicaSet" || kind == "StatefulSet";
      const StoredPtr set = counted
                                ? editor_.registry().find(sync::printing::known_kind("apps", kind),
                                                          sync::wire::namespace_of(pod->object),
                                                          sync::wire::dig_text(owner, {"name"}))
                                : nullptr;
      if (!set) {
        if (is_active(pod->object)) ++expected;
      } else if (owners.emplace(sync::wire::uid_of(set->object)).second) {
        expected += sync::wire::dig_int(set->object, {"spec", "replicas"});
      }
    }
    set_status("policy", "PodDisruptionBudget", budget->object,
               budget_status(budget->object, all, expected));
  }
}

void Controllers::empty_namespaces() {
  for (const StoredPtr& space : list("", "Namespace")) {
    if (sync::wire::is_terminating(space->object)) finish_namespace(space);
  }
}

// Deletes the objects of the resource; returns whether there are none left.
bool Controllers::remove_all(const sync::printing::Resource& resource,
                             std::string_view name_space) {
  for (const StoredPtr& stored : editor_.registry().list(resource, name_space)) {
    if (!sync::wire::is_terminating(stored->object)) remove(resource, stored->object, {});
  }
  return editor_.registry().list(resource, name_space).empty();
}

// Deletes the objects of definitions that are being deleted, and then removes their finalizer.
void Controllers::empty_definitions() {
  const sync::printing::Resource& resource =
      sync::printing::known_kind("apiextensions.k8s.io", "CustomResourceDefinition");
  for (const StoredPtr& crd : list("apiextensions.k8s.io", "CustomResourceDefinition")) {
    if (!sync::wire::is_terminating(crd->object)) continue;
    const auto* found = editor_.registry().catalog().find_kind(
        sync::wire::dig_text(crd->object, {"spec", "group"}),
        sync::wire::dig_text(crd->object, {"spec", "names", "kind"}));
    if (found != nullptr && found->is_custom && !remove_all(*found, {})) continue;
    json::object done = crd->object;
    json::value& finalizers = sync::wire::make_object(done, {"metadata"})["finalizers"];
    json::array kept;
    for (const json::value& each : sync::wire::dig_list(crd->object, {"metadata", "finalizers"})) {
      if (each != json::value(definition_finalizer)) kept.push_back(each);
    }
    if (kept.size() == sync::wire::dig_list(crd->object, {"metadata", "finalizers"}).size())
      continue;
    finalizers = std::move(kept);
    const auto written = editor_.replace(resource, canonical(resource, std::move(done)), crd);
    if (!written) log_warn("definition", {{"why", written.error().message}});
  }
}

// Deletes the objects in the namespace; once it is empty, removes its finalizers, which deletes it.
void Controllers::finish_namespace(const StoredPtr& space) {
  const std::string name(sync::wire::name_of(space->object));
  bool empty = true;
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    const bool kept = resource.namespaced && sync::printing::allows(resource.verbs, "list") &&
                      resource.group != "events.k8s.io";
    if (!kept) continue;
    for (const StoredPtr& stored : editor_.registry().list(resource, name)) {
      if (!sync::wire::is_terminating(stored->object)) {
        remove(resource.group, resource.kind, stored->object);
      }
    }
    empty = empty && editor_.registry().list(resource, name).empty();
  }
  for (const auto& custom : editor_.registry().catalog().customs()) {
    if (custom->namespaced) empty = remove_all(*custom, name) && empty;
  }
  if (!empty) return;
  json::object done = space->object;
  sync::wire::make_object(done, {"spec"})["finalizers"] = json::array();
  const sync::printing::Resource& resource = sync::printing::known_kind("", "Namespace");
  const auto written = editor_.replace(resource, canonical(resource, std::move(done)), space);
  if (!written) log_warn("namespace", {{"name", name}, {"why", written.error().message}});
}

}  // namespace holdfast::agent::lab
