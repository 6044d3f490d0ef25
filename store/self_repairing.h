// A database whose file is replaced if it turns out to be damaged, when it is opened or at any
// later moment, or if it was moved or removed.
//
// Flash wears out, and a damaged page is noticed only when it is read. Without a new file, every
// operation that meets the page would fail until somebody deletes the file. The damaged file is set
// aside (recover.h). What of its content goes into the new one is its user's decision.
//
// A file that somebody has moved or removed can still be read as long as it is open. It is copied
// to its place, unless there is another one by now, which is opened then.
//
// Threading: the Database's thread.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <type_traits>

#include "platform/time.h"
#include "platform/token_bucket.h"
#include "store/recover.h"

namespace holdfast::store {

class SelfRepairingDatabase {
 public:
  // What uses the database, with its prepared statements.
  struct User {
    // Begins to use it. With a damage, the database is new and empty; without one, it is as before,
    // or as it was found. Errors: the disk's.
    std::function<Status(Database&, const std::optional<Damage>&)> begin;
    // Destroys all statements, because the database is about to be closed.
    std::function<void()> end;
    // Called after each replacement with its reason, when operations run again. May be null.
    std::function<void(const Error& why)> replaced = nullptr;
  };
  struct File {
    std::filesystem::path path;
    DatabaseOptions options;
    const Schema& schema;
  };

  // `clock` and what `user` refers to are borrowed.
  SelfRepairingDatabase(File file, const Clock& clock, User user);
  // For a database that was migrated to its schema, and is not replaced if it is damaged.
  SelfRepairingDatabase(Database database, const Clock& clock, User user);

  // Opens the file, or creates it; to be called once, before everything else. Errors: those of
  // open_or_rebuild() but corrupt; those of User::begin.
  [[nodiscard]] Status open();

  // Runs an operation, and once more if it finds the file damaged or gone (is_file_damage(),
  // is_file_gone()) and that was replaced. Three replacements may follow each other, and one more
  // each minute: a disk that damages everything must not cost a new file for each operation. Until
  // the file may be replaced, operations fail with the damage.
  template <class Operation>
  [[nodiscard]] std::invoke_result_t<Operation> run(const Operation& operation) {
    std::optional<Error> damage;
    if (is_used_) {
      auto result = operation();
      if (result) return result;
      if (!is_file_damage(result.error()) && !is_file_gone(result.error())) return result;
      damage = result.error();
    } else {
      damage = Error{Errc::corrupt, "the damaged file could not be replaced"};
    }
    if (auto repaired = repair(*damage); !repaired) return fail(repaired.error());
    return operation();
  }

  // Checks the structure of the file, unless it is larger than checked_bytes_max, and replaces it
  // if it is damaged. Errors: as run().
  [[nodiscard]] Status check();

  // Replaces the file now. For callers who find it damaged otherwise. Errors: `why` if it is not to
  // be replaced; those of open().
  [[nodiscard]] Status replace(const Error& why);

  // How often the file was replaced, other than by open_or_rebuild().
  [[nodiscard]] std::uint64_t replacements() const { return replacements_; }

  // Valid as long as this; after a replacement it is the new file's.
  [[nodiscard]] Database& database() { return database_; }

 private:
  [[nodiscard]] Status open_file();
  [[nodiscard]] Status repair(const Error& why);

  std::optional<File> file_;  // nothing: it is not replaced
  const Clock& clock_;
  User user_;
  Database database_;
  bool is_used_ = false;          // User::begin() has succeeded
  std::optional<Damage> damage_;  // of a file that was set aside; User::begin() has not seen it yet
  TokenBucket pace_;
  std::uint64_t replacements_ = 0;
};

}  // namespace holdfast::store
