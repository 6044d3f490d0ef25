#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "agent/lab/rules/validation.h"
#include "platform/text.h"
#include "sync/objects/name.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view only_always[] = {"Always"};
constexpr std::string_view deployment_strategies[] = {"Recreate", "RollingUpdate"};
constexpr std::string_view daemon_strategies[] = {"OnDelete", "RollingUpdate"};

void check_selector(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                    const json::object& spec) {
  const json::value* selector = sync::wire::dig(spec, {"selector"});
  if (selector == nullptr) {
    errors.push_back(sync::wire::field::required("spec.selector"));
    return;
  }
  const json::object& wanted = sync::wire::as_object(*selector);
  check_label_selector(errors, wanted, "spec.selector");
  if (sync::wire::dig_object(wanted, {"matchLabels"}).empty() &&
      sync::wire::dig_list(wanted, {"matchExpressions"}).empty()) {
    std::string kind(resource.kind);
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
    errors.push_back(
        sync::wire::field::invalid_raw("spec.selector",
                                       "v1.LabelSelector{MatchLabels:map[string]string(nil), "
                                       "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}",
                                       "empty selector is invalid for " + kind));
    return;
  }
  const json::object& labels = sync::wire::dig_object(spec, {"template", "metadata", "labels"});
  if (!selects(wanted, labels)) {
    errors.push_back(sync::wire::field::invalid_raw("spec.template.metadata.labels", go_map(labels),
                                                    "`selector` does not match template `labels`"));
  }
}

void check_strategy(sync::wire::FieldErrors& errors, const json::object& spec,
                    std::string_view name, std::span<const std::string_view> known) {
  const std::string_view type = sync::wire::dig_text(spec, {name, "type"});
  const bool fine = std::find(known.begin(), known.end(), type) != known.end();
  if (!fine)
    errors.push_back(sync::wire::field::not_supported(
        sync::wire::child(sync::wire::child("spec", name), "type"), type, known));
  if (type == "Recreate" && sync::wire::dig(spec, {name, "rollingUpdate"}) != nullptr) {
    errors.push_back(sync::wire::field::forbidden(
        sync::wire::child(sync::wire::child("spec", name), "rollingUpdate"),
        "may not be specified when strategy `type` is 'Recreate'"));
  }
}

}  // namespace

void check_not_negative(sync::wire::FieldErrors& errors, const json::object& spec,
                        std::string_view name) {
  const std::int64_t number = sync::wire::dig_int(spec, {name});
  if (number >= 0) return;
  errors.push_back(sync::wire::field::invalid_raw(sync::wire::child("spec", name),
                                                  std::to_string(number),
                                                  "must be greater than or equal to 0"));
}

std::string go_map(const json::object& map) {
  if (map.empty()) return "map[string]string(nil)";
  std::string text = "map[string]string{";
  for (const auto& entry : map) {
    if (text.back() != '{') text += ", ";
    text += sync::wire::quoted(entry.key()) + ":" +
            sync::wire::quoted(sync::wire::as_text(entry.value()));
  }
  return text + "}";
}

void check_label_selector(sync::wire::FieldErrors& errors, const json::object& selector,
                          const std::string& path) {
  check_label_map(errors, sync::wire::dig_object(selector, {"matchLabels"}),
                  sync::wire::child(path, "matchLabels"));
  const json::array& requirements = sync::wire::dig_list(selector, {"matchExpressions"});
  for (std::size_t index = 0; index < requirements.size(); ++index) {
    const json::object& requirement = sync::wire::as_object(requirements[index]);
    const std::string here = sync::wire::at(sync::wire::child(path, "matchExpressions"), index);
    const std::string_view op = sync::wire::dig_text(requirement, {"operator"});
    const bool any_values = !sync::wire::dig_list(requirement, {"values"}).empty();
    const std::string_view key = sync::wire::dig_text(requirement, {"key"});
    if ((op == "In" || op == "NotIn") && !any_values) {
      errors.push_back(
          sync::wire::field::required(sync::wire::child(here, "values"),
                                      "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if ((op == "Exists" || op == "DoesNotExist") && any_values) {
      errors.push_back(sync::wire::field::forbidden(
          sync::wire::child(here, "values"),
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    } else if (op != "In" && op != "NotIn" && op != "Exists" && op != "DoesNotExist") {
      errors.push_back(sync::wire::field::invalid(sync::wire::child(here, "operator"), op,
                                                  "not a valid selector operator"));
    }
    for (std::string& reason : sync::objects::check_qualified_name(key)) {
      errors.push_back(
          sync::wire::field::invalid(sync::wire::child(here, "key"), key, std::move(reason)));
    }
  }
}

void check_workload(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                    const json::object& object) {
  const json::object& spec = sync::wire::dig_object(object, {"spec"});
  for (const std::string_view count : {"replicas", "minReadySeconds", "revisionHistoryLimit"}) {
    check_not_negative(errors, spec, count);
  }
  check_selector(errors, resource, spec);
  check_label_map(errors, sync::wire::dig_object(spec, {"template", "metadata", "labels"}),
                  "spec.template.metadata.labels");
  const json::object pod = with_claim_volumes(spec);
  check_pod_spec(errors, pod, "spec.template.spec");
  const std::string_view restart = sync::wire::dig_text(pod, {"restartPolicy"});
  if (restart != "Always") {
    errors.push_back(
        sync::wire::field::not_supported("spec.template.spec.restartPolicy", restart, only_always));
  }
  if (resource.kind == "Deployment") {
    check_strategy(errors, spec, "strategy", deployment_strategies);
  } else if (resource.kind == "DaemonSet") {
    check_strategy(errors, spec, "updateStrategy", daemon_strategies);
  } else if (resource.kind == "StatefulSet") {
    check_stateful_set(errors, object);
  }
}

}  // namespace holdfast::agent::lab
