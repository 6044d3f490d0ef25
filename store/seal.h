// Encrypted ("sealed") rows of cache.db, so that somebody who finds the disk cannot read them.
//
// The store knows which rows to seal and whether a row is sealed. The encryption and the key belong
// to the Seal, which the caller provides.

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
  // Must be deterministic: the same bytes under the same name give the same result, so that
  // unchanged rows are not written again.
  [[nodiscard]] virtual std::string seal(std::string_view plain, std::string_view name) const = 0;
  // Errors: denied (another key), corrupt.
  [[nodiscard]] virtual Result<std::string> open(std::string_view sealed,
                                                 std::string_view name) const = 0;
};

// Which rows are sealed, and how. Without a seal no row is sealed, and reading a sealed row fails
// with `denied`. With a seal, reading a row that should be sealed and is not also fails with
// `denied`: it was written without the key. seal_once() seals the rows that were written before
// there was a key.
struct Sealing {
  const Seal* seal = nullptr;
  std::function<bool(const ScopeKey& scope)> objects_of = {};
  std::function<bool(std::string_view key)> answers_to = {};
};

// Opens a sealed value. Errors: denied, corrupt. For the tables of this folder.
[[nodiscard]] Result<std::string> open_sealed(const Seal* seal, std::string_view sealed,
                                              std::string_view name);
// The error for a row that should be sealed and is not.
[[nodiscard]] tl::unexpected<Error> not_sealed();

// The names that rows are sealed under. A name includes the table, owner, scope, the row's own key
// and whether it was packed. So a row that was copied to another owner, scope or name, or whose
// `packed` column was changed, cannot be opened.
struct SealedObject {
  std::string_view namespace_name;
  std::string_view name;
  std::string_view uid;
  std::string_view version;
  std::int64_t packed = 0;  // the unpacked size if the bytes were packed before sealing; else 0
};
[[nodiscard]] std::string object_seal_name(const ScopeKey& scope, const SealedObject& object);
// The name that schema 2 sealed under, without the scope. For seal_once() and reseal() only.
[[nodiscard]] std::string old_object_seal_name(const SealedObject& object);
[[nodiscard]] std::string answer_seal_name(std::string_view owner, std::string_view key,
                                           std::int64_t packed);

}  // namespace holdfast::store
