// Rows of Jobs, StatefulSets, revisions and role bindings.

#include <vector>

#include "platform/text.h"
#include "sync/printing/age.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

bool job_holds(const json::object& job, std::string_view type) {
  for (const json::value& item : wire::dig_list(job, {"status", "conditions"})) {
    const json::object& condition = wire::as_object(item);
    if (wire::dig_text(condition, {"type"}) == type) {
      return wire::dig_text(condition, {"status"}) == "True";
    }
  }
  return false;
}

std::string_view job_state(const json::object& job) {
  if (job_holds(job, "Complete")) return "Complete";
  if (job_holds(job, "Failed")) return "Failed";
  if (wire::is_terminating(job)) return "Terminating";
  for (const std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (job_holds(job, type)) return type;
  }
  return "Running";
}

std::string job_completions(const json::object& job) {
  const std::string done = std::to_string(wire::dig_int(job, {"status", "succeeded"})) + "/";
  if (wire::dig(job, {"spec", "completions"}) != nullptr) {
    return done + std::to_string(wire::dig_int(job, {"spec", "completions"}));
  }
  const std::int64_t at_once = wire::dig_int(job, {"spec", "parallelism"});
  return done + (at_once > 1 ? "1 of " + std::to_string(at_once) : "1");
}

// How long it has run or ran; "" if it has not begun.
std::string job_duration(const json::object& job, WallTime now) {
  const json::value* start = wire::dig(job, {"status", "startTime"});
  if (start == nullptr) return {};
  const auto end = parse_rfc3339(wire::dig_text(job, {"status", "completionTime"}));
  return age_of(start, end.value_or(now));
}

void job_cells(json::array& cells, const json::object& job, WallTime now) {
  cells.emplace_back(wire::name_of(job));
  cells.emplace_back(job_state(job));
  cells.emplace_back(job_completions(job));
  cells.emplace_back(job_duration(job, now));
  cells.emplace_back(object_age(job, now));
  template_cells(cells, job);
  cells.emplace_back(format_selector(wire::dig_object(job, {"spec", "selector"})));
}

void statefulset_cells(json::array& cells, const json::object& set, WallTime now) {
  cells.emplace_back(wire::name_of(set));
  cells.emplace_back(std::to_string(wire::dig_int(set, {"status", "readyReplicas"})) + "/" +
                     std::to_string(wire::dig_int(set, {"spec", "replicas"})));
  cells.emplace_back(object_age(set, now));
  template_cells(cells, set);
}

// "statefulset.apps/db"
std::string controller_name(const json::object& object) {
  const json::object& owner = wire::controller_of(object);
  if (owner.empty()) return "<none>";
  std::string name(wire::dig_text(owner, {"kind"}));
  for (char& c : name) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string_view version = wire::dig_text(owner, {"apiVersion"});
  const std::size_t slash = version.find('/');
  if (slash != std::string_view::npos) name.append(".").append(version.substr(0, slash));
  return name.append("/").append(wire::dig_text(owner, {"name"}));
}

void revision_cells(json::array& cells, const json::object& revision, WallTime now) {
  cells.emplace_back(wire::name_of(revision));
  cells.emplace_back(controller_name(revision));
  cells.emplace_back(std::to_string(wire::dig_int(revision, {"revision"})));
  cells.emplace_back(object_age(revision, now));
}

void role_cells(json::array& cells, const json::object& role, WallTime) {
  cells.emplace_back(wire::name_of(role));
  cells.emplace_back(wire::dig_text(role, {"metadata", "creationTimestamp"}));
}

// The names of the binding's subjects of one kind.
std::string subjects_of(const json::object& binding, std::string_view kind) {
  std::vector<std::string> names;
  for (const json::value& item : wire::dig_list(binding, {"subjects"})) {
    const json::object& subject = wire::as_object(item);
    if (wire::dig_text(subject, {"kind"}) != kind) continue;
    std::string name(wire::dig_text(subject, {"name"}));
    if (kind == "ServiceAccount") {
      name = std::string(wire::dig_text(subject, {"namespace"})) + "/" + name;
    }
    names.push_back(std::move(name));
  }
  return join(names, ", ");
}

void binding_cells(json::array& cells, const json::object& binding, WallTime now) {
  cells.emplace_back(wire::name_of(binding));
  std::string role(wire::dig_text(binding, {"roleRef", "kind"}));
  cells.emplace_back(role.append("/").append(wire::dig_text(binding, {"roleRef", "name"})));
  cells.emplace_back(object_age(binding, now));
  for (const std::string_view kind : {"User", "Group", "ServiceAccount"}) {
    cells.emplace_back(subjects_of(binding, kind));
  }
}

}  // namespace

FillCells batch_cells(std::string_view plural) {
  if (plural == "jobs") return job_cells;
  if (plural == "statefulsets") return statefulset_cells;
  if (plural == "controllerrevisions") return revision_cells;
  if (plural == "roles" || plural == "clusterroles") return role_cells;
  if (plural == "rolebindings" || plural == "clusterrolebindings") return binding_cells;
  return nullptr;
}

}  // namespace holdfast::sync::printing
