#include "agent/lab/run/manifests.h"

#include <algorithm>
#include <set>

#include "agent/lab/scenario/sections.h"
#include "agent/lab/scenario/units.h"
#include "agent/lab/scenario/yaml_tree.h"
#include "platform/fs/file.h"
#include "platform/text.h"
#include "sync/objects/names.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::run {
namespace {

namespace json = sync::json;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// As YAML 1.1 reads plain scalars, which kubectl does.
json::value scalar_of(const YamlNode& node) {
  const std::string& text = node.text;
  if (node.is_quoted) return json::string(text);
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
    return false;
  }
  if (const auto number = parse_int<std::int64_t>(text)) return *number;
  if (const auto number = parse_number(text)) return *number;
  return json::string(text);
}

json::value converted(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return nullptr;
    case YamlNode::Kind::scalar:
      return scalar_of(node);
    case YamlNode::Kind::list: {
      json::array made;
      for (const YamlNode& item : node.items) made.push_back(converted(item));
      return made;
    }
    case YamlNode::Kind::map:
      break;
  }
  json::object made;
  for (const YamlEntry& entry : node.entries) made[entry.key] = converted(entry.value);
  return made;
}

json::object* object_at(json::object& from, std::initializer_list<std::string_view> path) {
  json::object* here = &from;
  for (const std::string_view key : path) {
    json::value* found = here->if_contains(key);
    here = found == nullptr ? nullptr : found->if_object();
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::string text_of(const json::object& from, std::string_view key) {
  const json::value* found = from.if_contains(key);
  const json::string* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

// The template of the pods that an object makes, or the object if it is one; null if it makes none.
json::object* pod_template_of(json::object& object, const std::string& kind) {
  json::object* found = &object;
  if (kind == "CronJob") {
    found = object_at(object, {"spec", "jobTemplate", "spec", "template"});
  } else if (kind != "Pod") {
    found = object_at(object, {"spec", "template"});
  }
  const bool has_pods = found != nullptr && object_at(*found, {"spec"}) != nullptr;
  return has_pods ? found : nullptr;
}

// Divides a number of seconds, to at least one. Zero and less stay as they are.
void scale_seconds(json::object& object, std::string_view key, int speed) {
  json::value* found = object.if_contains(key);
  const auto* seconds = found == nullptr ? nullptr : found->if_int64();
  if (seconds == nullptr || *seconds <= 0) return;
  *found = std::max<std::int64_t>(1, (*seconds + speed / 2) / speed);
}

class PodChanger {
 public:
  PodChanger(const ManifestChanges& changes, std::string place, std::vector<std::string>& notes)
      : changes_(changes), place_(std::move(place)), notes_(notes) {}

  void change(json::object& pod, const std::string& kind) {
    for (const char* list : {"initContainers", "containers"}) {
      json::value* found = pod.if_contains(list);
      json::array* containers = found == nullptr ? nullptr : found->if_array();
      if (containers != nullptr) give_commands(*containers, std::string_view(list) == "containers");
    }
    if (pod.if_contains("terminationGracePeriodSeconds") == nullptr) {
      pod["terminationGracePeriodSeconds"] = 30;
    }
    scale_seconds(pod, "terminationGracePeriodSeconds", changes_.speed);
    change_tolerations(pod, kind);
  }

 private:
  void give_commands(json::array& containers, bool are_main) {
    for (json::value& each : containers) {
      json::object* container = each.if_object();
      if (container == nullptr) continue;
      if (!changes_.image.empty()) (*container)["image"] = changes_.image;
      if (container->if_contains("command") != nullptr) continue;
      for (const char* key : {"args", "livenessProbe", "readinessProbe", "startupProbe"}) {
        container->erase(key);
      }
      (*container)["command"] =
          are_main ? json::array{"/bin/sleep", "1000000000"} : json::array{"/bin/true"};
      notes_.push_back(place_ + ": container " + text_of(*container, "name") +
                       " has no command: it only " + (are_main ? "sleeps" : "succeeds") +
                       ", because its image is not run");
    }
  }

  void change_tolerations(json::object& pod, const std::string& kind) {
    json::value& list = pod["tolerations"];
    if (!list.is_array()) list = json::array();
    json::array& tolerations = list.as_array();
    std::set<std::string> tolerated;
    for (json::value& each : tolerations) {
      json::object* toleration = each.if_object();
      if (toleration == nullptr) continue;
      scale_seconds(*toleration, "tolerationSeconds", changes_.speed);
      const std::string effect = text_of(*toleration, "effect");
      if (effect.empty() || effect == "NoExecute") tolerated.insert(text_of(*toleration, "key"));
    }
    if (kind == "DaemonSet" || tolerated.contains("")) return;
    for (const std::string_view taint :
         {sync::objects::taint_not_ready, sync::objects::taint_unreachable}) {
      if (tolerated.contains(std::string(taint))) continue;
      tolerations.push_back(json::object{{"key", taint},
                                         {"operator", "Exists"},
                                         {"effect", "NoExecute"},
                                         {"tolerationSeconds", changes_.default_toleration}});
    }
  }

  const ManifestChanges& changes_;
  std::string place_;
  std::vector<std::string>& notes_;
};

Status add_object(const YamlNode& node, const std::string& file, const ManifestChanges& changes,
                  Manifests& out) {
  const std::string place = file + ":" + std::to_string(node.place.line);
  json::value made = converted(node);
  json::object* object = made.if_object();
  if (object == nullptr) return fail(Errc::invalid, place + ": this is no Kubernetes object");
  json::object* metadata = object_at(*object, {"metadata"});
  ManifestObject added{.api_version = text_of(*object, "apiVersion"),
                       .kind = text_of(*object, "kind"),
                       .space = metadata == nullptr ? "" : text_of(*metadata, "namespace"),
                       .name = metadata == nullptr ? "" : text_of(*metadata, "name"),
                       .place = place,
                       .body = {}};
  for (const auto& [key, value] :
       {std::pair{"apiVersion", &added.api_version}, std::pair{"kind", &added.kind},
        std::pair{"metadata.name", &added.name}}) {
    if (value->empty()) return fail(Errc::invalid, place + ": " + key + " is missing");
  }
  json::object* pods = pod_template_of(*object, added.kind);
  if (pods != nullptr) {
    PodChanger(changes, place, out.notes).change(*object_at(*pods, {"spec"}), added.kind);
    if (changes.guest) changes.guest->confine(*pods);
  }
  if (changes.guest) {
    const bool is_space = added.kind == "Namespace";
    out.spaces.insert(is_space ? added.name : added.space.empty() ? "default" : added.space);
    if (is_space) return {};
    added.space = changes.guest->space(added.space);
    // Not `metadata`: what was added has moved it.
    (*object_at(*object, {"metadata"}))["namespace"] = added.space;
  }
  added.body = sync::wire::serialize(*object);
  const bool is_namespace = added.kind == "Namespace";
  out.objects.insert(is_namespace ? out.objects.begin() : out.objects.end(), std::move(added));
  return {};
}

}  // namespace

Status add_manifests(const std::string& file, const std::string& text,
                     const ManifestChanges& changes, Manifests& out) {
  ScenarioProblems problems(file);
  const std::vector<YamlNode> documents = parse_yaml(text, 0, problems);
  if (!problems.empty()) return tl::unexpected(problems.error());
  for (const YamlNode& document : documents) {
    if (document.kind == YamlNode::Kind::null) continue;
    const YamlNode* kind = document.find("kind");
    const YamlNode* items = document.find("items");
    if (kind == nullptr || !kind->text.ends_with("List") || items == nullptr) {
      if (auto added = add_object(document, file, changes, out); !added) return added;
      continue;
    }
    for (const YamlNode& item : items->items) {
      if (auto added = add_object(item, file, changes, out); !added) return added;
    }
  }
  return {};
}

Result<Manifests> read_manifest_files(const std::vector<std::string>& files,
                                      const ManifestChanges& changes) {
  Manifests made;
  for (const std::string& file : files) {
    TRY(const std::string text, fs::read_all(file, ScenarioLimits().file_bytes));
    if (auto added = add_manifests(file, text, changes, made); !added) return fail(added.error());
  }
  return made;
}

}  // namespace holdfast::agent::lab::run
