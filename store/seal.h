// How rows are kept that nobody who finds the disk may read: under a seal that the store is handed.
//
// The store knows which rows it was told to seal and whether a row is sealed; how, and with which
// key, is the seal's.

#pragma once

#include <cstdint>
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

// Which rows are sealed, and how. Without a seal no row is sealed, and reading one that is sealed
// already fails with `denied`. With a seal, reading a row that should be sealed and is not fails
// with `denied`, too: it was written without the key. seal_once() seals the rows that were written
// before there was a key.
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
// what it is called, and whether it was packed: a row that was copied to another owner, scope or
// name, or whose mark of packing was changed, does not open.
struct SealedObject {
  std::string_view namespace_name;
  std::string_view name;
  std::string_view uid;
  std::string_view version;
  std::int64_t packed = 0;  // the plain size of bytes that were packed before; 0: they were not
};
[[nodiscard]] std::string object_seal_name(const ScopeKey& scope, const SealedObject& object);
// The name that schema 2 sealed under, without the scope. For seal_once() and reseal() only.
[[nodiscard]] std::string old_object_seal_name(const SealedObject& object);
[[nodiscard]] std::string answer_seal_name(std::string_view owner, std::string_view key,
                                           std::int64_t packed);

}  // namespace holdfast::store
