// The controllers that create pods: Deployments, ReplicaSets and DaemonSets.

#include <boost/json.hpp>

#include "agent/lab/apiserver/controllers.h"
#include "agent/lab/loops/daemons.h"
#include "agent/lab/loops/replicas.h"
#include "agent/lab/loops/rollout.h"
#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/matching.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

sync::Objects controlled_by(const std::vector<StoredPtr>& all, const json::object& owner) {
  sync::Objects owned;
  for (const StoredPtr& stored : all) {
    if (sync::is_controlled_by(stored->object, sync::uid_of(owner))) {
      owned.push_back(&stored->object);
    }
  }
  return owned;
}

json::object by_name(std::string_view name_space, std::string_view name) {
  return {{"metadata", json::object{{"name", name}, {"namespace", name_space}}}};
}

// Writes the revision of a Deployment's pod template to its annotation.
void note_revision(Editor& editor, const json::object& deployment, std::int64_t revision) {
  const auto change = [revision](const json::object& old) -> sync::Answer<json::object> {
    json::object made = old;
    sync::make_object(made, {"metadata", "annotations"})[sync::revision_note] =
        std::to_string(revision);
    return made;
  };
  const sync::Target target{sync::namespace_of(deployment), sync::name_of(deployment)};
  (void)editor.update(sync::known_kind("apps", "Deployment"), target, sync::Part::status, change);
}

void resize(Editor& editor, std::string_view name_space, std::string_view name,
            std::int64_t replicas) {
  const auto change = [replicas](const json::object& old) -> sync::Answer<json::object> {
    json::object made = old;
    sync::make_object(made, {"spec"})["replicas"] = replicas;
    return made;
  };
  const auto done = editor.update(sync::known_kind("apps", "ReplicaSet"), {name_space, name},
                                  sync::Part::object, change);
  if (!done) log_warn("resize", {{"replicaset", name}, {"why", done.error().message}});
}

std::int64_t noted_revision(const json::object& object) {
  const json::object& notes = sync::dig_object(object, {"metadata", "annotations"});
  return parse_int<std::int64_t>(sync::dig_text(notes, {sync::revision_note})).value_or(0);
}

}  // namespace

void Controllers::roll_deployments() {
  const std::vector<StoredPtr> sets = list("apps", "ReplicaSet");
  for (const StoredPtr& deployment : list("apps", "Deployment")) {
    const json::object& object = deployment->object;
    const std::string space(sync::namespace_of(object));
    sync::RolloutPlan plan = sync::plan_rollout(object, controlled_by(sets, object), editor_.now());
    if (plan.create) create("apps", "ReplicaSet", *std::move(plan.create));
    for (const auto& [name, replicas] : plan.resize) resize(editor_, space, name, replicas);
    for (const std::string& name : plan.remove) remove("apps", "ReplicaSet", by_name(space, name));
    if (plan.revision != noted_revision(object)) note_revision(editor_, object, plan.revision);
    set_status("apps", "Deployment", object, plan.status);
  }
}

void Controllers::fill_replica_sets() {
  const std::vector<StoredPtr> pods = list("", "Pod");
  for (const StoredPtr& set : list("apps", "ReplicaSet")) {
    const json::object& object = set->object;
    const sync::ReplicaPlan plan = sync::plan_replicas(object, controlled_by(pods, object));
    for (std::size_t made = 0; made < plan.create; ++made) {
      create("", "Pod", sync::pod_of(object));
    }
    for (const std::string& name : plan.remove) {
      remove("", "Pod", by_name(sync::namespace_of(object), name));
    }
    set_status("apps", "ReplicaSet", object, plan.status);
  }
}

void Controllers::fill_daemon_sets() {
  const std::vector<StoredPtr> pods = list("", "Pod");
  const std::vector<StoredPtr> nodes = list("", "Node");
  sync::Objects all_nodes;
  for (const StoredPtr& node : nodes) all_nodes.push_back(&node->object);
  for (const StoredPtr& set : list("apps", "DaemonSet")) {
    const json::object& object = set->object;
    const sync::DaemonPlan plan =
        sync::plan_daemons(object, controlled_by(pods, object), all_nodes);
    for (const std::string& node : plan.create_on) {
      create("", "Pod", sync::daemon_pod(object, node));
    }
    for (const std::string& name : plan.remove) {
      remove("", "Pod", by_name(sync::namespace_of(object), name));
    }
    set_status("apps", "DaemonSet", object, plan.status);
  }
}

}  // namespace holdfast::agent::lab
