// Stores, and the scripted writes to them that the fault tests interrupt.
//
// A scenario that runs in memory without faults defines the content that the file must have after
// each of its steps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "platform/result.h"
#include "store/migrate.h"
#include "store/sqlite.h"

namespace holdfast::store {

class FaultScenario {
 public:
  virtual ~FaultScenario() = default;

  // Performs one write; when it returns success, the write is acknowledged. Steps are numbered from
  // 0.
  [[nodiscard]] virtual Status step(std::size_t number) = 0;

  // Everything that a reader can see, as text.
  [[nodiscard]] virtual Result<std::string> state() = 0;
};

struct FaultScenarioKind {
  std::string name;
  const Schema& schema;
  Durability durability;
  // Opens a migrated database.
  Result<std::unique_ptr<FaultScenario>> (*open)(Database);

  friend std::ostream& operator<<(std::ostream& out, const FaultScenarioKind& kind) {
    return out << kind.name;
  }
};

constexpr std::size_t scenario_steps = 24;

// Tests interrupt every n-th write. A sanitized process is slow and takes a tenth of a second to
// fork, so there only some writes are interrupted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t fault_stride = 17;
#else
constexpr std::int64_t fault_stride = 1;
#endif

[[nodiscard]] const std::vector<FaultScenarioKind>& scenario_kinds();

// The states before the first step, after the first, after the second, and so on.
[[nodiscard]] std::vector<std::string> states_of(const FaultScenarioKind& kind);

// Opens and migrates the file. Checkpoints are frequent and the page cache is too small for the
// larger transactions, so that faults also hit checkpoints and half-written transactions.
[[nodiscard]] Result<std::unique_ptr<FaultScenario>> open_scenario(
    const FaultScenarioKind& kind, const std::filesystem::path& file, const std::string& vfs);

}  // namespace holdfast::store
