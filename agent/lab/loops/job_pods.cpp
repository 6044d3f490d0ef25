#include <boost/json.hpp>

#include "agent/lab/loops/jobs.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view index_variable = "JOB_COMPLETION_INDEX";
constexpr std::size_t generated_base_max = 58;  // five characters are appended

void add_index_variable(json::object& container) {
  json::value& variables = container["env"];
  if (!variables.is_array()) variables.emplace_array();
  for (const json::value& variable : variables.get_array()) {
    if (sync::wire::dig_text(sync::wire::as_object(variable), {"name"}) == index_variable) return;
  }
  const std::string path = "metadata.labels['" + std::string(index_note) + "']";
  const json::object reference = {{"apiVersion", "v1"}, {"fieldPath", path}};
  json::object variable = {{"name", index_variable}};
  variable["valueFrom"] = json::object{{"fieldRef", reference}};
  variables.get_array().push_back(std::move(variable));
}

void add_index_variables(json::object& spec) {
  for (const std::string_view part : {"initContainers", "containers"}) {
    json::value* containers = spec.if_contains(part);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& container : containers->get_array()) {
      if (container.is_object()) add_index_variable(container.get_object());
    }
  }
}

}  // namespace

bool is_tracked(const json::object& pod) {
  for (const json::value& finalizer : sync::wire::dig_list(pod, {"metadata", "finalizers"})) {
    if (sync::wire::as_text(finalizer) == tracking_finalizer) return true;
  }
  return false;
}

json::object released(json::object pod) {
  json::array kept;
  for (const json::value& finalizer : sync::wire::dig_list(pod, {"metadata", "finalizers"})) {
    if (sync::wire::as_text(finalizer) != tracking_finalizer) kept.push_back(finalizer);
  }
  sync::wire::make_object(pod, {"metadata"})["finalizers"] = std::move(kept);
  return pod;
}

std::optional<std::int64_t> completion_index(const json::object& pod) {
  const json::object& notes = sync::wire::dig_object(pod, {"metadata", "annotations"});
  const auto index = parse_int<std::int64_t>(sync::wire::dig_text(notes, {index_note}));
  if (index && *index < 0) return std::nullopt;
  return index;
}

json::object job_pod(const json::object& job, std::optional<std::int64_t> index) {
  json::object pod = pod_of(job);
  json::object& metadata = sync::wire::make_object(pod, {"metadata"});
  json::value& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) finalizers.emplace_array();
  finalizers.get_array().emplace_back(tracking_finalizer);
  if (!index) return pod;
  const std::string number = std::to_string(*index);
  const std::string name(sync::wire::name_of(job));
  sync::wire::make_object(metadata, {"annotations"})[index_note] = number;
  sync::wire::make_object(metadata, {"labels"})[index_note] = number;
  const std::string tail = "-" + number + "-";
  metadata["generateName"] = name.substr(0, generated_base_max - tail.size()) + tail;
  json::object& spec = sync::wire::make_object(pod, {"spec"});
  spec["hostname"] = name + "-" + number;
  add_index_variables(spec);
  return pod;
}

}  // namespace holdfast::agent::lab
