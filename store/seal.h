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

// What is sealed. Without a seal nothing is, and what is sealed already cannot be read: the error
// is `denied`, and says so. With a seal, a row that is to be sealed and is not cannot be read
// either
// (`denied`): somebody without the key wrote it. seal_once() seals those of the time before.
struct Sealing {
  const Seal* seal = nullptr;
  std::function<bool(const ScopeKey& scope)> objects_of = {};
  std::function<bool(std::string_view key)> answers_to = {};
};

// Errors: denied, corrupt. For the tables of this folder.
[[nodiscard]] Result<std::string> open_sealed(const Seal* seal, std::string_view sealed,
                                              std::string_view name);
// The error of a row that is to be sealed and is not.
[[nodiscard]] tl::unexpected<Error> not_sealed();

// Under which names rows are sealed. A name tells the table, whose row it is and of which scope,
// and what it is called: a row that was copied to another owner, scope or name does not open.
struct SealedObject {
  std::string_view namespace_name;
  std::string_view name;
  std::string_view uid;
  std::string_view version;
};
[[nodiscard]] std::string object_seal_name(const ScopeKey& scope, const SealedObject& object);
// The name that schema 2 sealed under, without the scope. For seal_once() and reseal() only.
[[nodiscard]] std::string old_object_seal_name(const SealedObject& object);
[[nodiscard]] std::string answer_seal_name(std::string_view owner, std::string_view key);

}  // namespace holdfast::store
