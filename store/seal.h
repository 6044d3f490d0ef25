// How rows are kept that nobody who finds the disk may read: under a seal that the store is handed.
//
// The store knows which rows it was told to seal and whether a row is sealed; how, and with which
// key, is the seal's.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::store {

struct ScopeKey;

class Seal {
 public:
  virtual ~Seal() = default;
  // The same bytes under the same name give the same: what did not change is not written again.
  [[nodiscard]] virtual std::string seal(std::string_view plain, std::string_view name) const = 0;
  // Errors: denied (another key), corrupt.
  [[nodiscard]] virtual Result<std::string> open(std::string_view sealed,
                                                 std::string_view name) const = 0;
};

// What is sealed from now on. Without a seal nothing is, and what is sealed already can't be read:
// the error is `denied`, and says so.
struct Sealing {
  const Seal* seal = nullptr;
  std::function<bool(const ScopeKey& scope)> objects_of = {};
  std::function<bool(std::string_view key)> answers_to = {};
};

// Errors: denied, corrupt. For the tables of this folder.
[[nodiscard]] Result<std::string> open_sealed(const Seal* seal, std::string_view sealed,
                                              std::string_view name);

// Under which names rows are sealed: a row that was moved or renamed does not open.
[[nodiscard]] std::string object_seal_name(std::string_view namespace_name, std::string_view name,
                                           std::string_view uid, std::string_view version);
[[nodiscard]] std::string answer_seal_name(std::string_view owner, std::string_view key);

}  // namespace holdfast::store
