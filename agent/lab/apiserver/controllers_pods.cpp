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

Objects controlled_by(const std::vector<StoredPtr>& all, const json::object& owner) {
  Objects owned;
  for (const StoredPtr& stored : all) {
    if (is_controlled_by(stored->object, sync::wire::uid_of(owner))) {
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
  const auto change = [revision](const json::object& old) -> Answer<json::object> {
    json::object made = old;
    sync::wire::make_object(made, {"metadata", "annotations"})[revision_note] =
        std::to_string(revision);
    return made;
  };
  const Target target{sync::wire::namespace_of(deployment), sync::wire::name_of(deployment)};
  (void)editor.update(sync::printing::known_kind("apps", "Deployment"), target, Part::status,
                      change);
}

void resize(Editor& editor, std::string_view name_space, std::string_view name,
            std::int64_t replicas) {
  const auto change = [replicas](const json::object& old) -> Answer<json::object> {
    json::object made = old;
    sync::wire::make_object(made, {"spec"})["replicas"] = replicas;
    return made;
  };
  const auto done = editor.update(sync::printing::known_kind("apps", "ReplicaSet"),
                                  {name_space, name}, Part::object, change);
  if (!done) log_warn("resize", {{"replicaset", name}, {"why", done.error().message}});
}

std::int64_t noted_revision(const json::object& object) {
  const json::object& notes = sync::wire::dig_object(object, {"metadata", "annotations"});
  return parse_int<std::int64_t>(sync::wire::dig_text(notes, {revision_note})).value_or(0);
}

}  // namespace

void Controllers::roll_deployments() {
  const std::vector<StoredPtr> sets = list("apps", "ReplicaSet");
  for (const StoredPtr& deployment : list("apps", "Deployment")) {
    const json::object& object = deployment->object;
    const std::string space(sync::wire::namespace_of(object));
    RolloutPlan plan = plan_rollout(object, controlled_by(sets, object), editor_.now());
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
    const ReplicaPlan plan = plan_replicas(object, controlled_by(pods, object));
    for (std::size_t made = 0; made < plan.create; ++made) {
      create("", "Pod", pod_of(object));
    }
    for (const std::string& name : plan.remove) {
      remove("", "Pod", by_name(sync::wire::namespace_of(object), name));
    }
    set_status("apps", "ReplicaSet", object, plan.status);
  }
}

void Controllers::fill_daemon_sets() {
  const std::vector<StoredPtr> pods = list("", "Pod");
  const std::vector<StoredPtr> nodes = list("", "Node");
  Objects all_nodes;
  for (const StoredPtr& node : nodes) all_nodes.push_back(&node->object);
  for (const StoredPtr& set : list("apps", "DaemonSet")) {
    const json::object& object = set->object;
    const DaemonPlan plan = plan_daemons(object, controlled_by(pods, object), all_nodes);
    for (const std::string& node : plan.create_on) {
      create("", "Pod", daemon_pod(object, node));
    }
    for (const std::string& name : plan.remove) {
      remove("", "Pod", by_name(sync::wire::namespace_of(object), name));
    }
    set_status("apps", "DaemonSet", object, plan.status);
  }
}

}  // namespace holdfast::agent::lab
