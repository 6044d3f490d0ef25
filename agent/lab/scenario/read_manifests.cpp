// The section `manifests`: the workloads of Kubernetes manifests, as far as the simulator models
// them. What it does not model becomes a note, because the answer may depend on it.

#include <optional>
#include <set>

#include "agent/lab/scenario/sections.h"
#include "platform/text.h"
#include "sync/objects/name.h"
#include "sync/objects/quantity.h"

namespace holdfast::agent::lab {
namespace {

using sync::objects::Quantity;

constexpr Duration unknown_run_time = std::chrono::minutes(1);
constexpr std::int64_t seconds_max = 1'000'000'000;

// One object of a manifest.
struct Manifest {
  const YamlNode* node = nullptr;
  std::string file;
};

// The node at a path of keys; nullptr if there is none.
const YamlNode* node_at(const YamlNode& from, std::string_view path) {
  const YamlNode* here = &from;
  for (const std::string_view key : split(path, '.')) {
    here = here == nullptr ? nullptr : here->find(key);
  }
  return here;
}

std::string text_at(const YamlNode& from, std::string_view path) {
  const YamlNode* node = node_at(from, path);
  return node == nullptr ? std::string() : node->text;
}

std::optional<WorkloadKind> kind_of_manifest(const std::string& kind) {
  if (kind == "Deployment") return WorkloadKind::deployment;
  if (kind == "DaemonSet") return WorkloadKind::daemon_set;
  if (kind == "StatefulSet") return WorkloadKind::stateful_set;
  if (kind == "Job") return WorkloadKind::job;
  return std::nullopt;
}

// Whether all labels of `wanted` are among `labels`. Also true without `wanted`.
bool has_labels(const YamlNode* labels, const YamlNode* wanted) {
  if (wanted == nullptr) return true;
  for (const YamlEntry& entry : wanted->entries) {
    const YamlNode* value = labels == nullptr ? nullptr : labels->find(entry.key);
    if (value == nullptr || value->text != entry.value.text) return false;
  }
  return true;
}

class ManifestReader {
 public:
  ManifestReader(SectionReader& reader, Scenario& scenario)
      : reader_(reader),
        scenario_(scenario),
        fields_(reader.fields),
        sites_(ScenarioNames::of_sites(scenario)) {
    for (const Workload& workload : scenario.workloads) names_.insert(workload.name);
  }

  // Reads all objects. Those of one file may refer to those of another.
  void read(const std::vector<Manifest>& objects) {
    for (const Manifest& each : objects) {
      if (text_at(*each.node, "kind") == "PriorityClass") read_priority(each);
    }
    for (const Manifest& each : objects) read_object(each);
    for (const Manifest& each : objects) {
      if (text_at(*each.node, "kind") == "PodDisruptionBudget") read_budget(each);
    }
  }

 private:
  // A workload and where its pods are described.
  struct Made {
    std::size_t index = 0;  // in the scenario's workloads
    const YamlNode* labels = nullptr;
  };

  void note(const Manifest& manifest, const YamlNode& node, const std::string& what) {
    scenario_.notes.push_back(manifest.file + ":" + std::to_string(node.place.line) + ": " + what);
  }

  void read_integer(const YamlNode& from, std::string_view path, std::int64_t& out) {
    const YamlNode* node = node_at(from, path);
    if (node != nullptr)
      fields_.integer(out, -seconds_max, seconds_max)({*node, std::string(path)});
  }

  void read_priority(const Manifest& manifest) {
    std::int64_t value = 0;
    read_integer(*manifest.node, "value", value);
    priorities_[text_at(*manifest.node, "metadata.name")] = value;
  }

  void read_object(const Manifest& manifest) {
    const YamlNode& object = *manifest.node;
    const std::string kind = text_at(object, "kind");
    for (const char* other : {"Pod", "ReplicaSet", "CronJob", "ReplicationController"}) {
      if (kind == other) note(manifest, object, kind + " is not simulated");
    }
    const auto workload_kind = kind_of_manifest(kind);
    if (!workload_kind) return;
    Workload workload{.kind = *workload_kind, .name = text_at(object, "metadata.name")};
    const auto reasons = sync::objects::check_dns1123_subdomain(workload.name);
    if (workload.name.empty()) return fields_.wrong({object, "metadata.name"}, "is missing");
    if (!reasons.empty()) return fields_.wrong({object, "metadata.name"}, reasons.front());
    if (!names_.insert(workload.name).second || sites_.kind_of(workload.name) != 0) {
      return fields_.wrong({object, "metadata.name"},
                           quoted_text(workload.name) + " is also the name of something else");
    }
    workload.is_from_manifest = true;
    const std::string space = text_at(object, "metadata.namespace");
    if (!space.empty()) workload.namespace_name = space;
    read_count(object, workload);
    if (workload.kind == WorkloadKind::job) {
      workload.run_time = unknown_run_time;
      note(manifest, object, "job " + workload.name + " is assumed to run for 1m");
    }
    const YamlNode* pod = node_at(object, "spec.template.spec");
    if (pod != nullptr) read_pod(manifest, *pod, workload);
    if (const YamlNode* claims = node_at(object, "spec.volumeClaimTemplates")) {
      note(manifest, *claims, "volumeClaimTemplates are not simulated");
    }
    made_.push_back({scenario_.workloads.size(), node_at(object, "spec.template.metadata.labels")});
    scenario_.workloads.push_back(std::move(workload));
  }

  void read_count(const YamlNode& object, Workload& workload) {
    const bool is_job = workload.kind == WorkloadKind::job;
    const char* path = is_job ? "spec.completions" : "spec.replicas";
    const YamlNode* node = node_at(object, path);
    if (node == nullptr || workload.kind == WorkloadKind::daemon_set) return;
    fields_.integer(workload.replicas, 0, reader_.limits.replicas)({*node, path});
  }

  void read_pod(const Manifest& manifest, const YamlNode& pod, Workload& workload) {
    read_requests(pod, workload);
    if (node_at(pod, "terminationGracePeriodSeconds") != nullptr) {
      std::int64_t seconds = 0;
      read_integer(pod, "terminationGracePeriodSeconds", seconds);
      workload.grace = std::chrono::seconds(seconds);
    }
    const std::string priority = text_at(pod, "priorityClassName");
    const auto known = priorities_.find(priority);
    if (known != priorities_.end()) {
      workload.priority = static_cast<int>(known->second);
    } else if (!priority.empty()) {
      note(manifest, pod, "the priority class " + priority + " is not among the manifests");
    }
    if (const YamlNode* list = node_at(pod, "tolerations")) {
      for (const YamlNode& item : list->items) workload.tolerations.push_back(toleration_of(item));
    }
    if (const YamlNode* selector = node_at(pod, "nodeSelector")) {
      read_selector(manifest, *selector, workload);
    }
    for (const char* key :
         {"affinity", "topologySpreadConstraints", "initContainers", "nodeName"}) {
      const YamlNode* node = pod.find(key);
      if (node != nullptr) note(manifest, *node, std::string(key) + " is not simulated");
    }
    const YamlNode* volumes = pod.find("volumes");
    if (volumes == nullptr) return;
    for (const YamlNode& volume : volumes->items) {
      const YamlNode* claim = volume.find("persistentVolumeClaim");
      if (claim != nullptr) note(manifest, *claim, "persistentVolumeClaim is not simulated");
    }
  }

  void read_requests(const YamlNode& pod, Workload& workload) {
    const YamlNode* containers = pod.find("containers");
    if (containers == nullptr) return;
    for (const auto& [key, out] :
         {std::pair{"cpu", &workload.cpu}, std::pair{"memory", &workload.memory}}) {
      std::optional<Quantity> sum;
      for (const YamlNode& container : containers->items) {
        const YamlNode* node = node_at(container, std::string("resources.requests.") + key);
        if (node == nullptr) continue;
        std::string text;
        fields_.quantity(text)({*node, std::string("resources.requests.") + key});
        auto amount = Quantity::parse(text);
        if (!amount) continue;
        if (sum) *amount += *sum;
        sum = *amount;
      }
      if (sum) *out = sum->text();
    }
  }

  Toleration toleration_of(const YamlNode& item) {
    Toleration toleration{.key = text_at(item, "key"),
                          .op = text_at(item, "operator"),
                          .value = text_at(item, "value"),
                          .effect = text_at(item, "effect"),
                          .seconds = std::nullopt};
    if (toleration.op.empty()) toleration.op = "Equal";
    if (item.find("tolerationSeconds") != nullptr) {
      std::int64_t seconds = 0;
      read_integer(item, "tolerationSeconds", seconds);
      toleration.seconds = seconds;
    }
    return toleration;
  }

  // A selector that selects the nodes of one site binds the workload to it.
  void read_selector(const Manifest& manifest, const YamlNode& selector, Workload& workload) {
    std::vector<const Site*> matching;
    for (const Site& site : scenario_.sites) {
      auto labels = site.labels;
      labels["topology.kubernetes.io/zone"] = site.zone;
      labels["kubernetes.io/os"] = "linux";
      bool matches = true;
      for (const YamlEntry& entry : selector.entries) {
        const auto found = labels.find(entry.key);
        matches = matches && found != labels.end() && found->second == entry.value.text;
      }
      if (matches) matching.push_back(&site);
    }
    if (matching.size() == 1) {
      workload.on = matching.front()->name;
    } else if (matching.size() != scenario_.sites.size()) {
      note(manifest, selector,
           "nodeSelector matches " + std::to_string(matching.size()) +
               " sites; only one or all can be simulated");
    }
  }

  void read_budget(const Manifest& manifest) {
    const YamlNode& object = *manifest.node;
    const YamlNode* wanted = node_at(object, "spec.selector.matchLabels");
    for (const Made& made : made_) {
      Workload& workload = scenario_.workloads[made.index];
      if (wanted == nullptr || !has_labels(made.labels, wanted)) continue;
      const std::string least = text_at(object, "spec.minAvailable");
      const std::string lost = text_at(object, "spec.maxUnavailable");
      const auto count = count_of(least.empty() ? lost : least, workload.replicas);
      if (!count) {
        note(manifest, object, "minAvailable or maxUnavailable is not understood");
      } else {
        workload.min_available = least.empty() ? workload.replicas - *count : *count;
      }
    }
  }

  // "3" or "50%" of `replicas`, rounded up as upstream does.
  static std::optional<int> count_of(std::string_view text, int replicas) {
    const bool is_share = text.ends_with('%');
    if (is_share) text.remove_suffix(1);
    const auto value = parse_int<int>(text);
    if (!value || *value < 0 || (is_share && *value > 100)) return std::nullopt;
    if (!is_share) return value;
    const std::int64_t scaled = std::int64_t{replicas} * *value;
    return static_cast<int>((scaled + 99) / 100);
  }

  SectionReader& reader_;
  Scenario& scenario_;
  FieldReader& fields_;
  ScenarioNames sites_;
  std::set<std::string> names_;
  std::map<std::string, std::int64_t> priorities_;
  std::vector<Made> made_;
};

// Adds the objects of a document, those of a List one by one.
void add_objects(FieldReader& fields, const YamlNode& document, const std::string& file,
                 std::vector<Manifest>& out) {
  if (document.kind == YamlNode::Kind::null) return;
  const YamlNode* kind = document.find("kind");
  if (kind == nullptr || kind->text.empty()) {
    return fields.wrong({document, ""}, "\"kind\" is missing: this is no Kubernetes object");
  }
  const YamlNode* items = document.find("items");
  if (!kind->text.ends_with("List") || items == nullptr) {
    out.push_back({&document, file});
    return;
  }
  for (const YamlNode& item : items->items) out.push_back({&item, file});
}

}  // namespace

void read_manifests(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  std::set<std::string> seen;
  std::vector<std::pair<std::string, std::vector<YamlNode>>> files;
  std::size_t bytes = 0;
  const auto read_file = [&reader, &scenario, &seen, &files, &bytes](const YamlItem& each) {
    FieldReader& fields = reader.fields;
    const std::string* name = fields.word(each, "a file's name");
    if (name == nullptr) return;
    if (!seen.insert(*name).second) return fields.wrong(each, "stands twice");
    auto file = reader.open(*name);
    if (!file) return fields.wrong(each, file.error().what);
    bytes += file->content.size();
    if (bytes > reader.limits.manifest_bytes) {
      return fields.wrong(each, "the manifests have more than " +
                                    std::to_string(reader.limits.manifest_bytes) +
                                    " bytes together");
    }
    scenario.manifests.push_back(file->path);
    const int source = fields.problems().add_file(printable(*name));
    files.emplace_back(*name,
                       parse_yaml(file->content, source, fields.problems(), reader.limits.yaml));
  };
  reader.fields.list(item, reader.limits.manifests, read_file);
  std::vector<Manifest> objects;
  for (const auto& [name, documents] : files) {
    for (const YamlNode& each : documents) add_objects(reader.fields, each, name, objects);
  }
  ManifestReader(reader, scenario).read(objects);
}

}  // namespace holdfast::agent::lab
