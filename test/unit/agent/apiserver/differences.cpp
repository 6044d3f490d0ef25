#include "test/unit/agent/apiserver/differences.h"

#include <algorithm>

#include "platform/text.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

using What = Deliberate::What;

constexpr std::string_view not_asked_for = "nothing in an edge cluster's lab asks for it";
constexpr std::string_view needs_kubelet = "holdfast-node does not serve it, either";
constexpr std::string_view newer_columns =
    "1.36 prints restarts as text, and the kernel with its architecture";
constexpr std::string_view newer_version = "a newer server has v1, which the recorded one has not";

const std::vector<Deliberate> differences = {
    {{0}, What::value, "", {}, "it is another program's version"},
    {{2},
     What::left_out,
     "/groups",
     {"apiregistration.k8s.io", "autoscaling", "networking.k8s.io", "extensions",
      "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"},
     not_asked_for},
    {{2},
     What::left_out,
     "/groups/*/versions",
     {"events.k8s.io/v1beta1", "authentication.k8s.io/v1beta1", "authorization.k8s.io/v1beta1",
      "certificates.k8s.io/v1beta1", "storage.k8s.io/v1beta1", "scheduling.k8s.io/v1beta1",
      "apiextensions.k8s.io/v1beta1", "coordination.k8s.io/v1beta1", "node.k8s.io/v1beta1",
      "batch/v1beta1", "rbac.authorization.k8s.io/v1beta1"},
     "no client of our time asks for these versions"},
    {{2}, What::added, "/groups/*/versions", {"policy/v1", "discovery.k8s.io/v1"}, newer_version},
    {{2}, What::value, "/groups/6/preferredVersion", {}, newer_version},
    {{2}, What::value, "/groups/13/preferredVersion", {}, newer_version},
    {{3},
     What::left_out,
     "/resources",
     {"componentstatuses", "limitranges", "podtemplates", "replicationcontrollers",
      "replicationcontrollers/scale", "replicationcontrollers/status", "resourcequotas",
      "resourcequotas/status"},
     not_asked_for},
    {{3},
     What::left_out,
     "/resources",
     {"nodes/proxy", "pods/attach", "pods/proxy", "services/proxy"},
     needs_kubelet},
    {{3}, What::value, "/resources/15/version", {}, "kubectl evicts with the newest it is told of"},
    {{6}, What::left_out, "/resources", {"podsecuritypolicies"}, "newer servers have none"},
    {{11}, What::added, "/resources", {"selfsubjectreviews"}, "`kubectl auth whoami` asks for it"},
    {{13}, What::value, "/paths", {}, "the paths follow from what is served"},
    {{15}, What::value, "", {}, "our checks are not those of a kube-apiserver's hooks"},
    {{53},
     What::first_line,
     "/message",
     {},
     "after the rule upstream prints Go's structs, with the changes of this field in them"},
    {{53}, What::first_line, "/details/causes/0/message", {}, "the same"},
    {{33, 34}, What::value, "/rows/0/cells/8", {}, newer_columns},
    {{55, 56, 79}, What::value, "/columnDefinitions/3/type", {}, newer_columns},
    {{55, 56, 79}, What::value, "/rows/*/cells/3", {}, newer_columns},
    {{75}, What::value, "/*/object/rows/*/cells/3", {}, newer_columns},
    {{64}, What::order, "/items", {}, "the recorded server's cache lists in no order"},
    {{67}, What::value, "", {}, "1.36 answers a resourceVersion that is no number with 400"},
    {{71}, What::added, "", {""}, "1.36 marks the end of the initial events with a bookmark"},
    {{71, 75}, What::order, "", {}, "the recorded server's cache lists in no order"},
    {{75},
     What::value,
     "/*/object/columnDefinitions",
     {},
     "the first event carries the columns, and in our order that is another one"},
};

std::string name_of(const json::value& element) {
  const json::object* object = element.if_object();
  if (object == nullptr) return element.is_string() ? std::string(element.get_string()) : "";
  for (const std::string_view key : {"name", "groupVersion"}) {
    if (const json::value* name = object->if_contains(key)) return std::string(name->as_string());
  }
  // The object of a watch event or of a table row.
  const json::value* inner = object->if_contains("object");
  const json::object& about = inner != nullptr ? inner->as_object() : *object;
  if (const json::value* rows = about.if_contains("rows")) {
    return name_of(rows->as_array().at(0));
  }
  const json::value* name = about.at("metadata").as_object().if_contains("name");
  return name == nullptr ? "" : std::string(name->as_string());
}

void take_out(json::value& list, const std::vector<std::string>& names) {
  json::array kept;
  for (const json::value& element : list.as_array()) {
    if (std::find(names.begin(), names.end(), name_of(element)) == names.end()) {
      kept.push_back(element);
    }
  }
  list = std::move(kept);
}

void sort_by_name(json::value& list) {
  json::array& elements = list.as_array();
  std::stable_sort(elements.begin(), elements.end(),
                   [](const json::value& left, const json::value& right) {
                     return name_of(left) < name_of(right);
                   });
}

void cut_to_line(json::value& text) {
  const std::string_view all = text.as_string();
  text = json::value(all.substr(0, all.find('\n')));
}

// Calls `act` with the values at `path`; a step "*" means every element of a list.
template <class Act>
void each_at(json::value& root, std::string_view path, Act act) {
  if (path.empty()) {
    act(root);
    return;
  }
  path.remove_prefix(1);
  const std::string_view step = path.substr(0, path.find('/'));
  path.remove_prefix(step.size());
  if (json::array* list = root.if_array()) {
    const auto index = parse_int<std::size_t>(step);
    for (std::size_t at = 0; at < list->size(); ++at) {
      if (step == "*" || index == at) each_at((*list)[at], path, act);
    }
  } else if (json::object* object = root.if_object()) {
    if (json::value* inner = object->if_contains(step)) each_at(*inner, path, act);
  }
}

void apply(const Deliberate& difference, json::value& recorded, json::value& ours) {
  const std::vector<std::string>& names = difference.names;
  const auto forget = [](json::value& value) { value = ""; };
  const auto filter = [&names](json::value& list) { take_out(list, names); };
  switch (difference.what) {
    case What::value:
      each_at(recorded, difference.path, forget);
      each_at(ours, difference.path, forget);
      return;
    case What::left_out:
      each_at(recorded, difference.path, filter);
      return;
    case What::added:
      each_at(ours, difference.path, filter);
      return;
    case What::order:
      each_at(recorded, difference.path, sort_by_name);
      return;
    case What::first_line:
      each_at(recorded, difference.path, cut_to_line);
      return;
  }
}

// The answers were recorded without managedFields.
void drop_managed_fields(json::value& value) {
  if (json::array* list = value.if_array()) {
    for (json::value& item : *list) drop_managed_fields(item);
  }
  json::object* object = value.if_object();
  if (object == nullptr) return;
  object->erase("managedFields");
  for (auto& pair : *object) drop_managed_fields(pair.value());
}

}  // namespace

const std::vector<Deliberate>& deliberate() { return differences; }

void apply_differences(std::size_t exchange, json::value& recorded, json::value& ours,
                       std::set<std::size_t>& used) {
  drop_managed_fields(ours);
  for (std::size_t at = 0; at < differences.size(); ++at) {
    const auto& exchanges = differences[at].exchanges;
    if (std::find(exchanges.begin(), exchanges.end(), exchange) == exchanges.end()) continue;
    const json::value before = recorded;
    const json::value ours_before = ours;
    apply(differences[at], recorded, ours);
    if (recorded != before || ours != ours_before) used.insert(at);
  }
}

}  // namespace holdfast::test
