// The names that events and expectations of a scenario may refer to.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/scenario/problems.h"
#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab {

// Kinds of names, as bits.
using NameKinds = unsigned;
namespace name_kind {
inline constexpr NameKinds site = 1;
inline constexpr NameKinds node = 2;
inline constexpr NameKinds all = 4;  // "all": every site
inline constexpr NameKinds cloud = 8;
inline constexpr NameKinds api_server = 16;
inline constexpr NameKinds workload = 32;
inline constexpr NameKinds nodes = site | node | all;
}  // namespace name_kind

class ScenarioNames {
 public:
  // Borrows from the scenario, which must not change and outlives this.
  explicit ScenarioNames(const Scenario& scenario);

  // Only its sites and nodes: then the scenario's workloads may change.
  [[nodiscard]] static ScenarioNames of_sites(const Scenario& scenario);

  // Nothing is known by this name: 0.
  [[nodiscard]] NameKinds kind_of(std::string_view name) const;

  // What is wrong with a reference to `name` where only the kinds `allowed` make sense, or "".
  [[nodiscard]] std::string complaint(std::string_view name, NameKinds allowed,
                                      const ScenarioProblems& problems) const;

  // The site of a site's or node's name; nullptr for any other name.
  [[nodiscard]] const Site* site_of(std::string_view name) const;

  // By its name, or by "deployment/web". nullptr if there is none.
  [[nodiscard]] const Workload* workload(std::string_view name) const;

 private:
  ScenarioNames() = default;

  [[nodiscard]] std::vector<std::string_view> candidates(NameKinds allowed) const;
  [[nodiscard]] std::vector<std::string> nodes_numbered(int number) const;

  std::map<std::string_view, const Site*> sites_;
  std::map<std::string_view, const Workload*> workloads_;
};

// The name of a kind in the file: "deployment".
[[nodiscard]] std::string_view kind_name(WorkloadKind kind);

// Splits the name of a node, "a-2", into its site's name and its number; number 0 if it is no such
// name.
struct NodeName {
  std::string_view site;
  int number = 0;
};
[[nodiscard]] NodeName split_node_name(std::string_view name);

}  // namespace holdfast::agent::lab
