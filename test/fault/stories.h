// Stores and the scripted writes to them that the fault tests interrupt.
//
// A story told in memory, without faults, says what the file must hold after each of its steps.

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

class Story {
 public:
  virtual ~Story() = default;

  // One write that, once it returned, is acknowledged. Steps go from 0 upwards.
  [[nodiscard]] virtual Status step(std::size_t number) = 0;

  // All that a reader can see, as text.
  [[nodiscard]] virtual Result<std::string> state() = 0;
};

struct StoryKind {
  std::string name;
  const Schema& schema;
  Durability durability;
  // Takes a migrated database.
  Result<std::unique_ptr<Story>> (*open)(Database);

  friend std::ostream& operator<<(std::ostream& out, const StoryKind& kind) {
    return out << kind.name;
  }
};

constexpr std::size_t story_steps = 24;

// From one interrupted write to the next. A sanitized process is slow, and takes a tenth of a
// second to fork: there only some writes are interrupted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t fault_stride = 17;
#else
constexpr std::int64_t fault_stride = 1;
#endif

[[nodiscard]] const std::vector<StoryKind>& story_kinds();

// The state before the first step, after it, after the second, and so on.
[[nodiscard]] std::vector<std::string> states_of(const StoryKind& kind);

// Opens and migrates the file. Checkpoints come early, and the page cache is too small for the
// larger transactions, so that these are interrupted too, also halfway.
[[nodiscard]] Result<std::unique_ptr<Story>> open_story(const StoryKind& kind,
                                                        const std::filesystem::path& file,
                                                        const std::string& vfs);

}  // namespace holdfast::store
