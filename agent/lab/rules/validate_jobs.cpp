// The checks of Jobs and StatefulSets.

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/defaults.h"
#include "agent/lab/rules/matching.h"
#include "agent/lab/rules/validation.h"
#include "sync/objects/name.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::int64_t indexed_parallelism_max = 100'000;  // upstream's
constexpr std::string_view completion_modes[] = {"NonIndexed", "Indexed"};
constexpr std::string_view replacement_policies[] = {"Failed", "TerminatingOrFailed"};
constexpr std::string_view job_restart_policies[] = {"OnFailure", "Never"};
constexpr std::string_view retention_policies[] = {"Retain", "Delete"};

constexpr std::string_view set_update_refused =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden";

bool is_known_word(std::string_view text, std::span<const std::string_view> known) {
  return std::find(known.begin(), known.end(), text) != known.end();
}

void check_supported(sync::wire::FieldErrors& errors, const json::object& spec,
                     std::string_view field, std::span<const std::string_view> known) {
  const std::string_view text = sync::wire::dig_text(spec, {field});
  if (is_known_word(text, known)) return;
  errors.push_back(sync::wire::field::not_supported(sync::wire::child("spec", field), text, known));
}

void check_indexed(sync::wire::FieldErrors& errors, const json::object& job) {
  const json::object& spec = sync::wire::dig_object(job, {"spec"});
  if (sync::wire::dig_text(spec, {"completionMode"}) != "Indexed") return;
  if (sync::wire::dig(spec, {"completions"}) == nullptr) {
    errors.push_back(
        sync::wire::field::required("spec.completions", "when completion mode is Indexed"));
  }
  const std::int64_t parallelism = sync::wire::dig_int(spec, {"parallelism"});
  if (parallelism > indexed_parallelism_max) {
    errors.push_back(sync::wire::field::invalid_raw("spec.parallelism", std::to_string(parallelism),
                                                    "must be less than or equal to " +
                                                        std::to_string(indexed_parallelism_max) +
                                                        " when completion mode is Indexed"));
  }
  const std::int64_t last = sync::wire::dig_int(spec, {"completions"}) - 1;
  const std::string host = std::string(sync::wire::name_of(job)) + "-" + std::to_string(last);
  if (last >= 0 && !sync::objects::check_dns1123_label(host).empty()) {
    errors.push_back(
        sync::wire::field::invalid("metadata.name", sync::wire::name_of(job),
                                   "will not able to create pod with invalid DNS label: " + host));
  }
}

// The labels that select_own_pods() sets must be in the template, and the selector may want no
// others.
void check_generated(sync::wire::FieldErrors& errors, const json::object& job) {
  const json::object& labels =
      sync::wire::dig_object(job, {"spec", "template", "metadata", "labels"});
  const json::object& selector = sync::wire::dig_object(job, {"spec", "selector"});
  const std::string_view uid = sync::wire::uid_of(job);
  const std::string_view name = sync::wire::name_of(job);
  const json::object expected = {
      {"controller-uid", uid}, {"job-name", name}, {job_uid_label, uid}, {job_name_label, name}};
  for (const auto& label : expected) {
    const json::value* given = labels.if_contains(label.key());
    if (given != nullptr && *given == label.value()) continue;
    errors.push_back(sync::wire::field::invalid_raw(
        sync::wire::at("spec.template.metadata.labels", std::string_view(label.key())),
        json::serialize(labels), "must be '" + std::string(label.value().as_string()) + "'"));
  }
  if (selects(selector, expected)) return;
  errors.push_back(sync::wire::field::invalid_raw("spec.selector", json::serialize(selector),
                                                  "`selector` not auto-generated"));
}

void check_own_selector(sync::wire::FieldErrors& errors, const json::object& job) {
  const json::object& labels =
      sync::wire::dig_object(job, {"spec", "template", "metadata", "labels"});
  const json::object& selector = sync::wire::dig_object(job, {"spec", "selector"});
  if (!sync::wire::dig_bool(job, {"spec", "manualSelector"})) check_generated(errors, job);
  check_label_selector(errors, selector, "spec.selector");
  if (selects(selector, labels)) return;
  errors.push_back(sync::wire::field::invalid_raw("spec.template.metadata.labels",
                                                  json::serialize(labels),
                                                  "`selector` does not match template `labels`"));
}

void check_job_restart(sync::wire::FieldErrors& errors, const json::object& spec) {
  const std::string path = "spec.template.spec.restartPolicy";
  const std::string_view restart =
      sync::wire::dig_text(spec, {"template", "spec", "restartPolicy"});
  if (restart.empty() || restart == "Always") {
    errors.push_back(sync::wire::field::required(path, "valid values: \"OnFailure\", \"Never\""));
  } else if (!is_known_word(restart, job_restart_policies)) {
    errors.push_back(sync::wire::field::not_supported(path, restart, job_restart_policies));
  }
}

// What a suspended Job may still change in its template: where the pods run.
json::object without_directives(json::object made_from) {
  json::object& spec = sync::wire::make_object(made_from, {"spec"});
  for (const std::string_view field :
       {"nodeSelector", "tolerations", "affinity", "schedulingGates"}) {
    spec.erase(field);
  }
  made_from.erase("metadata");
  return made_from;
}

void check_completions_update(sync::wire::FieldErrors& errors, const json::object& job,
                              const json::object& old) {
  const json::object& spec = sync::wire::dig_object(job, {"spec"});
  if (sync::wire::dig_text(spec, {"completionMode"}) != "Indexed") {
    check_immutable(errors, job, old, "spec", "completions");
    return;
  }
  const std::int64_t now = sync::wire::dig_int(spec, {"completions"});
  if (now == sync::wire::dig_int(old, {"spec", "completions"})) return;
  if (now == sync::wire::dig_int(spec, {"parallelism"})) return;
  errors.push_back(
      sync::wire::field::invalid_raw("spec.completions", std::to_string(now),
                                     "can only be modified in tandem with spec.parallelism"));
}

// As upstream prints it.
std::string printed_rolling(const json::value* rolling) {
  if (rolling == nullptr || !rolling->is_object()) return "null";
  json::object printed = {{"Partition", nullptr}, {"MaxUnavailable", nullptr}};
  if (const json::value* value = rolling->get_object().if_contains("partition"))
    printed["Partition"] = *value;
  if (const json::value* value = rolling->get_object().if_contains("maxUnavailable"))
    printed["MaxUnavailable"] = *value;
  return json::serialize(printed);
}

void check_set_strategy(sync::wire::FieldErrors& errors, const json::object& spec) {
  const std::string_view type = sync::wire::dig_text(spec, {"updateStrategy", "type"});
  const json::value* rolling = sync::wire::dig(spec, {"updateStrategy", "rollingUpdate"});
  const std::int64_t partition =
      sync::wire::dig_int(spec, {"updateStrategy", "rollingUpdate", "partition"});
  if (type != "RollingUpdate" && type != "OnDelete") {
    errors.push_back(
        sync::wire::field::invalid_raw("spec.updateStrategy",
                                       R"({"Type":)" + json::serialize(json::value(type)) +
                                           R"(,"RollingUpdate":)" + printed_rolling(rolling) + "}",
                                       "must be 'RollingUpdate' or 'OnDelete'"));
  } else if (type == "OnDelete" && rolling != nullptr) {
    errors.push_back(sync::wire::field::invalid_raw(
        "spec.updateStrategy.rollingUpdate", printed_rolling(rolling),
        "only allowed for updateStrategy 'RollingUpdate'"));
  } else if (partition < 0) {
    errors.push_back(sync::wire::field::invalid_raw("spec.updateStrategy.rollingUpdate.partition",
                                                    std::to_string(partition),
                                                    "must be greater than or equal to 0"));
  }
}

}  // namespace

void check_job(sync::wire::FieldErrors& errors, const json::object& job) {
  const json::object& spec = sync::wire::dig_object(job, {"spec"});
  for (const std::string_view count : {"parallelism", "completions", "activeDeadlineSeconds",
                                       "backoffLimit", "ttlSecondsAfterFinished"}) {
    check_not_negative(errors, spec, count);
  }
  for (const std::string_view field :
       {"podFailurePolicy", "successPolicy", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (sync::wire::dig(spec, {field}) == nullptr) continue;
    errors.push_back(sync::wire::field::forbidden(
        sync::wire::child("spec", field), "holdfast-lab does not support this field of Jobs"));
  }
  check_supported(errors, spec, "completionMode", completion_modes);
  check_supported(errors, spec, "podReplacementPolicy", replacement_policies);
  check_indexed(errors, job);
  check_own_selector(errors, job);
  check_label_map(errors, sync::wire::dig_object(spec, {"template", "metadata", "labels"}),
                  "spec.template.metadata.labels");
  check_pod_spec(errors, sync::wire::dig_object(spec, {"template", "spec"}), "spec.template.spec");
  check_job_restart(errors, spec);
}

void check_job_update(sync::wire::FieldErrors& errors, const json::object& job,
                      const json::object& old) {
  check_completions_update(errors, job, old);
  for (const std::string_view field : {"selector", "completionMode", "managedBy"}) {
    check_immutable(errors, job, old, "spec", field);
  }
  const json::object& made_from = sync::wire::dig_object(job, {"spec", "template"});
  const json::object& before = sync::wire::dig_object(old, {"spec", "template"});
  const bool suspended = sync::wire::dig_bool(old, {"spec", "suspend"});
  if (suspended && without_directives(made_from) == without_directives(before)) return;
  check_immutable(errors, job, old, "spec", "template");
}

void check_stateful_set(sync::wire::FieldErrors& errors, const json::object& set) {
  const json::object& spec = sync::wire::dig_object(set, {"spec"});
  const std::string_view policy = sync::wire::dig_text(spec, {"podManagementPolicy"});
  if (policy != "OrderedReady" && policy != "Parallel") {
    errors.push_back(sync::wire::field::invalid("spec.podManagementPolicy", policy,
                                                "must be 'OrderedReady' or 'Parallel'"));
  }
  check_set_strategy(errors, spec);
  for (const std::string_view when : {"whenDeleted", "whenScaled"}) {
    const std::string_view kept =
        sync::wire::dig_text(spec, {"persistentVolumeClaimRetentionPolicy", when});
    if (is_known_word(kept, retention_policies)) continue;
    errors.push_back(sync::wire::field::not_supported(
        sync::wire::child("spec.persistentVolumeClaimRetentionPolicy", when), kept,
        retention_policies));
  }
  const std::int64_t start = sync::wire::dig_int(spec, {"ordinals", "start"});
  if (start < 0) {
    errors.push_back(sync::wire::field::invalid_raw("spec.ordinals.start", std::to_string(start),
                                                    "must be greater than or equal to 0"));
  }
  const json::array& claims = sync::wire::dig_list(spec, {"volumeClaimTemplates"});
  for (std::size_t index = 0; index < claims.size(); ++index) {
    if (!sync::wire::name_of(sync::wire::as_object(claims[index])).empty()) continue;
    errors.push_back(sync::wire::field::required(
        sync::wire::child(sync::wire::at("spec.volumeClaimTemplates", index), "metadata.name"),
        "the claims of the pods are named after it"));
  }
}

void check_stateful_set_update(sync::wire::FieldErrors& errors, const json::object& set,
                               const json::object& old) {
  json::object kept = sync::wire::dig_object(set, {"spec"});
  json::object before = sync::wire::dig_object(old, {"spec"});
  for (const std::string_view field :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    kept.erase(field);
    before.erase(field);
  }
  if (kept == before) return;
  errors.push_back(sync::wire::field::forbidden("spec", std::string(set_update_refused)));
}

json::object with_claim_volumes(const json::object& spec) {
  json::object pod = sync::wire::dig_object(spec, {"template", "spec"});
  const json::array& claims = sync::wire::dig_list(spec, {"volumeClaimTemplates"});
  if (claims.empty()) return pod;
  json::value& volumes = pod["volumes"];
  if (!volumes.is_array()) volumes.emplace_array();
  for (const json::value& item : claims) {
    const std::string_view name = sync::wire::name_of(sync::wire::as_object(item));
    // A volume of the same name is replaced by that of the claim.
    json::array others;
    for (json::value& volume : volumes.get_array()) {
      if (sync::wire::dig_text(sync::wire::as_object(volume), {"name"}) != name)
        others.push_back(std::move(volume));
    }
    const json::object source = {{"claimName", name}};
    others.push_back(json::object{{"name", name}, {"persistentVolumeClaim", source}});
    volumes = std::move(others);
  }
  return pod;
}

}  // namespace holdfast::agent::lab
