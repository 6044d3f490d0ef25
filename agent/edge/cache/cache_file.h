// cache.db and its tables.
//
// A damaged file is replaced (store/self_repairing.h). The answers and counters that are readable
// are copied into the new one. Scopes are not: in a damaged list an object may be missing, and the
// node would take it for deleted. Those that are in memory are written anew, see on_replaced();
// after a restart they are listed again.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "store/answers.h"
#include "store/cache.h"
#include "store/self_repairing.h"
#include "store/sequence.h"

namespace holdfast::agent {

class CacheFile {
 public:
  struct Tables {
    Tables(store::Database& from, const store::Sealing& sealing);

    store::Database& database;
    store::Cache cache;
    store::Answers answers;
    store::Sequence versions;  // see LocalVersions
  };

  // Opens the file, or creates it. With a key, what is plain in the file is sealed, once. The clock
  // and the seal are borrowed. Errors: those of store::SelfRepairingDatabase and
  // store::seal_once().
  [[nodiscard]] static Result<std::unique_ptr<CacheFile>> open(
      const std::filesystem::path& file, const Clock& clock, const store::Sealing& sealing = {},
      const store::DatabaseOptions& options = store::cache_options());
  // For a database that was migrated to store::cache_schema(). It stays as it is, damaged or not
  // sealed: whoever only looks may have another key than the agent.
  [[nodiscard]] static Result<std::unique_ptr<CacheFile>> open(store::Database database,
                                                               const Clock& clock,
                                                               const store::Sealing& sealing = {});

  // Runs an operation on the Tables, and once more if the file was damaged and could be replaced.
  template <class Operation>
  [[nodiscard]] std::invoke_result_t<Operation, Tables&> run(const Operation& operation) {
    return file_.run([this, &operation] { return operation(*tables_); });
  }
  // The tables as they are, for callers who handle a damaged file themselves. Errors: unavailable
  // if the file could not be replaced yet.
  [[nodiscard]] Result<Tables*> tables();

  // As in store::SelfRepairingDatabase.
  [[nodiscard]] Status check() { return file_.check(); }
  [[nodiscard]] Status replace(const Error& why) { return file_.replace(why); }
  [[nodiscard]] std::uint64_t replacements() const { return file_.replacements(); }
  [[nodiscard]] store::Database& database() { return file_.database(); }

  // Called after each replacement. The new file may lack any scope. Null: nobody is called.
  void on_replaced(std::function<void()> callback) { on_replaced_ = std::move(callback); }

 private:
  // `file` is what SelfRepairingDatabase is made from.
  template <class File>
  CacheFile(File file, const Clock& clock, const store::Sealing& sealing, bool seals_once);
  [[nodiscard]] Status use(store::Database& database, const std::optional<store::Damage>& damage);
  void release();

  const store::Sealing sealing_;
  const bool seals_once_;
  store::SelfRepairingDatabase file_;
  std::optional<Tables> tables_;  // while the database is in use
  std::int64_t last_version_ = 0;
  std::function<void()> on_replaced_;
};

}  // namespace holdfast::agent
