// The controllers that perform the plans for Jobs and StatefulSets.

#include <boost/json.hpp>
#include <set>

#include "agent/lab/apiserver/controllers.h"
#include "agent/lab/loops/deadlines.h"
#include "agent/lab/rules/matching.h"
#include "platform/log.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

using ByController = std::map<std::string, Objects, std::less<>>;

// Objects by the uid of their controllers.
ByController by_controller(const std::vector<StoredPtr>& all) {
  ByController owned;
  for (const StoredPtr& stored : all) {
    const std::string_view uid =
        sync::wire::dig_text(sync::wire::controller_of(stored->object), {"uid"});
    if (!uid.empty()) owned[std::string(uid)].push_back(&stored->object);
  }
  return owned;
}

Objects of_controller(const ByController& owned, const json::object& owner) {
  const auto found = owned.find(sync::wire::uid_of(owner));
  return found == owned.end() ? Objects{} : found->second;
}

json::object sibling(const json::object& of, std::string_view name) {
  return {{"metadata", json::object{{"name", name}, {"namespace", sync::wire::namespace_of(of)}}}};
}

// Changes an object; the failure is logged and the next pass tries again.
void change_object(Editor& editor, const sync::printing::Resource& resource, const json::object& of,
                   std::string_view name, const Editor::Change& change) {
  const Target target{sync::wire::namespace_of(of), name};
  const auto written = editor.update(resource, target, Part::object, change);
  if (written || written.error().reason == "NotFound") return;
  log_warn("controller update",
           {{"kind", resource.kind}, {"name", name}, {"why", written.error().message}});
}

void release_pod(Editor& editor, const json::object& of, std::string_view name) {
  change_object(editor, sync::printing::known_kind("", "Pod"), of, name,
                [](const json::object& old) -> Answer<json::object> { return released(old); });
}

}  // namespace

void Controllers::fill_stateful_sets() {
  const std::vector<StoredPtr> sets = list("apps", "StatefulSet");
  if (sets.empty()) return;
  const std::vector<StoredPtr> pods = list("", "Pod");
  const std::vector<StoredPtr> revisions = list("apps", "ControllerRevision");
  const ByController pods_of = by_controller(pods);
  const ByController revisions_of = by_controller(revisions);
  for (const StoredPtr& set : sets) {
    const std::vector<StoredPtr> claims =
        list("", "PersistentVolumeClaim", sync::wire::namespace_of(set->object));
    StatefulParts parts{of_controller(pods_of, set->object),
                        of_controller(revisions_of, set->object)};
    for (const StoredPtr& claim : claims) parts.claims.push_back(&claim->object);
    perform(set->object, plan_stateful_set(set->object, parts, editor_.now()));
  }
}

void Controllers::perform(const json::object& set, StatefulPlan plan) {
  if (plan.again) bring_forward(due_, *plan.again);
  if (plan.create_revision) create("apps", "ControllerRevision", *std::move(plan.create_revision));
  const sync::printing::Resource& revisions =
      sync::printing::known_kind("apps", "ControllerRevision");
  for (const auto& [name, number] : plan.renumber) {
    change_object(editor_, revisions, set, name,
                  [number = number](const json::object& old) -> Answer<json::object> {
                    json::object made = old;
                    made["revision"] = number;
                    return made;
                  });
  }
  for (const std::string& name : plan.remove) remove("", "Pod", sibling(set, name));
  const sync::printing::Resource& claims = sync::printing::known_kind("", "PersistentVolumeClaim");
  for (const auto& [name, owners] : plan.own_claims) {
    change_object(editor_, claims, set, name,
                  [&owners = owners](const json::object& old) -> Answer<json::object> {
                    json::object made = old;
                    sync::wire::make_object(made, {"metadata"})["ownerReferences"] = owners;
                    return made;
                  });
  }
  for (json::object& claim : plan.create_claims) {
    create("", "PersistentVolumeClaim", std::move(claim));
  }
  for (json::object& pod : plan.create) create("", "Pod", std::move(pod));
  set_status("apps", "StatefulSet", set, plan.status);
  for (const std::string& name : plan.remove_revisions) {
    remove("apps", "ControllerRevision", sibling(set, name));
  }
}

void Controllers::run_jobs() {
  const std::vector<StoredPtr> jobs = list("batch", "Job");
  std::set<std::string_view> uids;
  for (const StoredPtr& job : jobs) uids.insert(sync::wire::uid_of(job->object));
  std::erase_if(backoff_, [&uids](const auto& entry) { return !uids.contains(entry.first); });
  if (jobs.empty()) return;
  const std::vector<StoredPtr> pods = list("", "Pod");
  const ByController pods_of = by_controller(pods);
  for (const StoredPtr& job : jobs) {
    JobBackoff& backoff = backoff_[std::string(sync::wire::uid_of(job->object))];
    JobPlan plan =
        plan_job(job->object, of_controller(pods_of, job->object), backoff, editor_.now());
    backoff = plan.backoff;
    perform(job->object, std::move(plan));
  }
}

// In the order that plan_job() demands.
void Controllers::perform(const json::object& job, JobPlan plan) {
  if (plan.again) bring_forward(due_, *plan.again);
  for (const std::string& name : plan.drop) {
    release_pod(editor_, job, name);
    remove("", "Pod", sibling(job, name));
  }
  for (const std::string& name : plan.remove) remove("", "Pod", sibling(job, name));
  for (json::object& pod : plan.create) create("", "Pod", std::move(pod));
  set_status("batch", "Job", job, plan.status);
  for (const std::string& name : plan.release) release_pod(editor_, job, name);
  if (plan.expired) remove("batch", "Job", job);
}

// Pods whose Job is gone wait for nobody.
void Controllers::release_pods() {
  for (const StoredPtr& pod : list("", "Pod")) {
    if (!is_tracked(pod->object)) continue;
    const json::object& owner = sync::wire::controller_of(pod->object);
    const StoredPtr job = editor_.registry().find(sync::printing::known_kind("batch", "Job"),
                                                  sync::wire::namespace_of(pod->object),
                                                  sync::wire::dig_text(owner, {"name"}));
    const bool owned =
        job && sync::wire::uid_of(job->object) == sync::wire::dig_text(owner, {"uid"});
    if (!owned) release_pod(editor_, pod->object, sync::wire::name_of(pod->object));
  }
}

}  // namespace holdfast::agent::lab
