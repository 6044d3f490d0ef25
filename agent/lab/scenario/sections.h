// The sections of a scenario file. Each function reads one into the scenario and adds what is wrong
// to the problems of the FieldReader.

#pragma once

#include <functional>
#include <string>

#include "agent/lab/scenario/fields.h"
#include "agent/lab/scenario/link_profile.h"
#include "agent/lab/scenario/scenario.h"
#include "agent/lab/scenario/scenario_names.h"

namespace holdfast::agent::lab {

// A file that a scenario names.
struct FileBeside {
  std::string path;  // as it can be opened from the current directory
  std::string content;
};

// Reads a file by its path relative to the scenario's folder.
using OpenBeside = std::function<Result<FileBeside>(const std::string& name)>;

struct ScenarioLimits {
  std::size_t file_bytes = 1 << 20;  // of the scenario, and of each file that it names
  YamlLimits yaml;
  TraceLimits trace;
  std::size_t trace_points = 1'000'000;  // of all sites and events together
  std::int64_t nodes = 200'000;
  std::size_t sites = 10'000;
  std::size_t workloads = 10'000;
  std::int64_t replicas = 1'000'000;  // of one workload
  std::size_t manifests = 100;
  std::size_t manifest_bytes = 4 << 20;  // of all together
  std::size_t events = 10'000;
  std::size_t targets = 1'000;  // of one event
  std::size_t expectations = 1'000;
  std::size_t entries = 100;      // labels, annotations, taints or tolerations of one object
  std::size_t text_bytes = 4096;  // of `name` and `about`
  Duration duration = std::chrono::hours(876'000);  // 100 years
};

// What the readers of the sections share.
struct SectionReader {
  FieldReader& fields;
  const OpenBeside& open;
  ScenarioLimits limits = {};
  // What was read of each trace so far, by its file, and how many points were handed out.
  std::map<std::string, Result<std::vector<TracePoint>>> traces = {};
  std::size_t trace_points = 0;
};

void read_fleet(SectionReader& reader, const YamlItem& item, Scenario& scenario);
void read_workloads(SectionReader& reader, const YamlItem& item, Scenario& scenario);
void read_manifests(SectionReader& reader, const YamlItem& item, Scenario& scenario);

// Flags of holdfast-cloud and holdfast-edge. They are checked as the programs check them.
void read_cloud_flags(SectionReader& reader, const YamlItem& item, Scenario& scenario);
void read_edge_flags(SectionReader& reader, const YamlItem& item, Scenario& scenario);

// These need a scenario whose duration, sites and workloads were read.
void read_events(SectionReader& reader, const YamlItem& item, Scenario& scenario);
void read_expectations(SectionReader& reader, const YamlItem& item, Scenario& scenario);

// Adds one event, a map as in `events`, for each of its targets. `names` are those of the scenario.
void read_event(SectionReader& reader, const ScenarioNames& names, const YamlItem& item,
                Scenario& scenario);

// A profile's name, a map of qualities, or {trace: FILE}.
[[nodiscard]] ReadItem link_reader(SectionReader& reader, LinkProfile& out);

// Counts the points of a trace that is used `times` times. A problem if all are too many.
void count_points(SectionReader& reader, const YamlItem& item, std::size_t points,
                  std::size_t times);

// Checks for FieldReader::text() and texts(); they return what is wrong, or "".
[[nodiscard]] std::string check_name(const std::string& name);
[[nodiscard]] std::string check_key(const std::string& key);
[[nodiscard]] std::string check_label_text(const std::string& value);

}  // namespace holdfast::agent::lab
