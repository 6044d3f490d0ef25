// The section `workloads`.

#include <set>

#include "agent/lab/scenario/sections.h"

namespace holdfast::agent::lab {
namespace {

constexpr Duration pod_time_max = std::chrono::hours(24);
constexpr std::int64_t priority_max = 1'000'000'000;  // as upstream: above are system classes

const std::vector<std::pair<std::string_view, WorkloadKind>>& workload_kinds() {
  static const std::vector<std::pair<std::string_view, WorkloadKind>> kinds = {
      {"deployment", WorkloadKind::deployment},
      {"daemonset", WorkloadKind::daemon_set},
      {"statefulset", WorkloadKind::stateful_set},
      {"job", WorkloadKind::job}};
  return kinds;
}

ReadItem toleration_reader(SectionReader& reader, std::vector<Toleration>& out) {
  return [&reader, &out](const YamlItem& item) {
    FieldReader& fields = reader.fields;
    Toleration toleration;
    std::int64_t seconds = 0;
    fields.map(
        item, {{"key", fields.text(toleration.key, check_key)},
               {"operator", fields.choice<std::string>(toleration.op, "operator",
                                                       {{"Exists", "Exists"}, {"Equal", "Equal"}})},
               {"value", fields.text(toleration.value, check_label_text)},
               {"effect", fields.choice<std::string>(toleration.effect, "effect",
                                                     {{"NoSchedule", "NoSchedule"},
                                                      {"PreferNoSchedule", "PreferNoSchedule"},
                                                      {"NoExecute", "NoExecute"}})},
               {"seconds", fields.integer(seconds, 0, 1'000'000'000)}});
    if (item.node.find("seconds") != nullptr) {
      toleration.seconds = seconds;
      if (toleration.effect != "NoExecute") {
        fields.wrong(item, "seconds needs effect: NoExecute");
      }
    }
    if (toleration.op == "Exists" && !toleration.value.empty()) {
      fields.wrong(item, "a value needs operator: Equal");
    }
    if (toleration.op == "Equal" && toleration.key.empty()) {
      fields.wrong(item, "operator Equal needs a key");
    }
    out.push_back(std::move(toleration));
  };
}

FieldTable workload_fields(SectionReader& reader, Workload& workload) {
  FieldReader& fields = reader.fields;
  const ReadItem requests = [&reader, &workload](const YamlItem& item) {
    reader.fields.map(item, {{"cpu", reader.fields.quantity(workload.cpu)},
                             {"memory", reader.fields.quantity(workload.memory)}});
  };
  const ReadItem budget = [&reader, &workload](const YamlItem& item) {
    int least = 0;
    reader.fields.map(item,
                      {{"min-available", reader.fields.integer(least, 0, reader.limits.replicas)}});
    reader.fields.require(item, "min-available");
    workload.min_available = least;
  };
  const ReadItem tolerations = [&reader, &workload](const YamlItem& item) {
    reader.fields.list(item, reader.limits.entries,
                       toleration_reader(reader, workload.tolerations));
  };
  const auto time = [&fields](Duration& out) {
    return fields.duration(out, Duration::zero(), pod_time_max);
  };
  FieldTable table;
  for (const auto& [name, kind] : workload_kinds()) {
    table.emplace_back(name, fields.text(workload.name, check_name));
  }
  const FieldTable others = {
      {"namespace", fields.text(workload.namespace_name, check_name)},
      {"replicas", fields.integer(workload.replicas, 0, reader.limits.replicas)},
      {"on", fields.text(workload.on)},
      {"requests", requests},
      {"priority", fields.integer(workload.priority, -priority_max, priority_max)},
      {"tolerations", tolerations},
      {"budget", budget},
      {"start", time(workload.start)},
      {"grace", time(workload.grace)},
      {"stop", time(workload.stop)},
      {"run-time",
       fields.duration(workload.run_time, std::chrono::milliseconds(1), reader.limits.duration)}};
  table.insert(table.end(), others.begin(), others.end());
  return table;
}

// Finds out the kind of a workload from the key that has its name.
bool read_kind(FieldReader& fields, const YamlItem& item, Workload& workload) {
  std::vector<std::string_view> given;
  std::vector<std::string_view> known;
  for (const auto& [name, kind] : workload_kinds()) {
    known.push_back(name);
    if (item.node.find(name) == nullptr) continue;
    given.push_back(name);
    workload.kind = kind;
  }
  if (given.size() > 1) {
    fields.wrong(item, "is both a " + std::string(given[0]) + " and a " + std::string(given[1]));
  } else if (given.empty()) {
    fields.wrong(item, "expected a name with the key " + alternatives(known));
  }
  return given.size() == 1;
}

// Keys that make no sense for the workload's kind.
void check_fit(FieldReader& fields, const YamlItem& item, const Workload& workload) {
  const auto refuse = [&fields, &item, &workload](std::string_view key) {
    const YamlNode* node = item.node.find(key);
    if (node == nullptr) return;
    fields.wrong({*node, path_of(item.path, key)},
                 "a " + std::string(kind_name(workload.kind)) + " has no " + std::string(key));
  };
  if (workload.kind == WorkloadKind::daemon_set) refuse("replicas");
  if (workload.kind != WorkloadKind::job) {
    refuse("run-time");
  } else {
    refuse("budget");
    fields.require(item, "run-time");
  }
  // A workload without replicas is scaled later.
  if (workload.min_available && workload.kind != WorkloadKind::daemon_set &&
      workload.replicas > 0 && *workload.min_available > workload.replicas) {
    fields.wrong(item, "budget.min-available is above replicas");
  }
}

// What the readers of all workloads share.
struct WorkloadReader {
  SectionReader& reader;
  const ScenarioNames& sites;
  std::set<std::string> seen = {};
};

void read_workload(WorkloadReader& shared, const YamlItem& item, Scenario& scenario) {
  FieldReader& fields = shared.reader.fields;
  Workload workload;
  if (item.node.kind == YamlNode::Kind::map && !read_kind(fields, item, workload)) return;
  fields.map(item, workload_fields(shared.reader, workload));
  if (workload.name.empty()) return;
  check_fit(fields, item, workload);
  if (!shared.seen.insert(workload.name).second) {
    fields.wrong(item, "two workloads are called " + quoted_text(workload.name));
  } else if (shared.sites.kind_of(workload.name) != 0) {
    fields.wrong(item, quoted_text(workload.name) + " is also the name of a site or node");
  }
  if (!workload.on.empty()) {
    const YamlItem on{*item.node.find("on"), path_of(item.path, "on")};
    const auto complaint = shared.sites.complaint(workload.on, name_kind::site, fields.problems());
    if (!complaint.empty()) fields.wrong(on, complaint);
  }
  scenario.workloads.push_back(std::move(workload));
}

}  // namespace

void read_workloads(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  const ScenarioNames sites = ScenarioNames::of_sites(scenario);
  WorkloadReader shared{reader, sites};
  reader.fields.list(item, reader.limits.workloads, [&shared, &scenario](const YamlItem& each) {
    read_workload(shared, each, scenario);
  });
}

}  // namespace holdfast::agent::lab
