// The defaults of Jobs and StatefulSets.

#include <boost/json.hpp>

#include "agent/lab/rules/defaults.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {

namespace json = boost::json;

void default_job(json::object& job) {
  json::object& spec = sync::wire::make_object(job, {"spec"});
  if (spec.find("completions") == spec.end() && spec.find("parallelism") == spec.end())
    spec["completions"] = 1;
  sync::wire::set_default(spec, "parallelism", 1);
  sync::wire::set_default(spec, "backoffLimit", 6);
  default_pod_spec(sync::wire::make_object(spec, {"template", "spec"}));
  const json::object labels = sync::wire::dig_object(spec, {"template", "metadata", "labels"});
  json::object& metadata = sync::wire::make_object(job, {"metadata"});
  if (!labels.empty() && sync::wire::dig_object(metadata, {"labels"}).empty())
    metadata["labels"] = labels;
  sync::wire::set_default(spec, "completionMode", "NonIndexed");
  sync::wire::set_default(spec, "suspend", false);
  sync::wire::set_default(spec, "podReplacementPolicy", "TerminatingOrFailed");
  sync::wire::set_default(spec, "manualSelector", false);
}

void select_own_pods(json::object& job) {
  json::object& spec = sync::wire::make_object(job, {"spec"});
  if (sync::wire::dig_bool(spec, {"manualSelector"})) return;
  const json::value name(sync::wire::name_of(job));
  const json::value uid(sync::wire::uid_of(job));
  json::object& labels = sync::wire::make_object(spec, {"template", "metadata", "labels"});
  sync::wire::set_default(labels, "job-name", name);
  sync::wire::set_default(labels, job_name_label, name);
  sync::wire::set_default(labels, "controller-uid", uid);
  sync::wire::set_default(labels, job_uid_label, uid);
  sync::wire::set_default(sync::wire::make_object(spec, {"selector", "matchLabels"}), job_uid_label,
                          uid);
}

void default_stateful_set(json::object& set) {
  json::object& spec = sync::wire::make_object(set, {"spec"});
  default_pod_spec(sync::wire::make_object(spec, {"template", "spec"}));
  if (sync::wire::dig_text(spec, {"podManagementPolicy"}).empty())
    spec["podManagementPolicy"] = "OrderedReady";
  json::object& strategy = sync::wire::make_object(spec, {"updateStrategy"});
  if (sync::wire::dig_text(strategy, {"type"}).empty()) {
    strategy["type"] = "RollingUpdate";
    (void)sync::wire::make_object(strategy, {"rollingUpdate"});
  }
  json::value* rolling = strategy.if_contains("rollingUpdate");
  if (sync::wire::dig_text(strategy, {"type"}) == "RollingUpdate" && rolling != nullptr &&
      rolling->is_object())
    sync::wire::set_default(rolling->get_object(), "partition", 0);
  json::object& retention = sync::wire::make_object(spec, {"persistentVolumeClaimRetentionPolicy"});
  for (const std::string_view when : {"whenDeleted", "whenScaled"}) {
    if (sync::wire::dig_text(retention, {when}).empty()) retention[when] = "Retain";
  }
  sync::wire::set_default(spec, "replicas", 1);
  sync::wire::set_default(spec, "revisionHistoryLimit", 10);
  json::value* claims = spec.if_contains("volumeClaimTemplates");
  if (claims == nullptr || !claims->is_array()) return;
  for (json::value& claim : claims->get_array()) {
    if (!claim.is_object()) continue;
    sync::wire::set_default(claim.get_object(), "kind", "PersistentVolumeClaim");
    sync::wire::set_default(claim.get_object(), "apiVersion", "v1");
    default_claim(claim.get_object());
  }
}

}  // namespace holdfast::agent::lab
