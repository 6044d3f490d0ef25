// Stores and the scripted writes to them that the fault tests interrupt.
//
// A story told in memory, without faults, says what the file must hold after each of its steps.

#pragma once

#include <cstddef>
#include <memory>
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
};

constexpr std::size_t story_steps = 24;

[[nodiscard]] const std::vector<StoryKind>& story_kinds();

// The state before the first step, after it, after the second, and so on.
[[nodiscard]] std::vector<std::string> states_of(const StoryKind& kind);

// Opens and migrates the file; checkpoints come early, so that they are interrupted too.
[[nodiscard]] Result<std::unique_ptr<Story>> open_story(const StoryKind& kind,
                                                        const std::filesystem::path& file,
                                                        const std::string& vfs);

}  // namespace holdfast::store
