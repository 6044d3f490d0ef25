// The rows of the scopes in cache.db, and the changes that are still to be written to them.
//
// Changes are written in groups, to spare the flash: flush() writes them. A power cut may lose the
// last groups, unless one of their scopes was noted as durable. The version of a scope's row is
// only written if no object written with it has the same version, as after a deletion.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "agent/edge/cache/cache_file.h"
#include "agent/edge/cache/local_scope.h"

namespace holdfast::agent {

class ScopeRows {
 public:
  // `file` and the clock must outlive this. What reads does not replace a damaged file; what writes
  // does.
  ScopeRows(CacheFile& file, const Clock& clock) : file_(file), clock_(clock) {}

  // The rows that the last run left. Errors: the disk's.
  [[nodiscard]] Result<std::vector<store::Scope>> all();
  [[nodiscard]] Result<store::CacheSize> size(const store::Scope& row);
  // Fills the scope with the objects of its row, of that kind. A row without a valid version is
  // treated as never complete. Errors: corrupt, denied (see store::Cache), the disk's.
  [[nodiscard]] Status read(const store::Scope& row, sync::wire::ScopeKind kind, LocalScope& scope);
  // Deletes the scope's row, if it has one, and forgets what is unwritten. Errors: the disk's; then
  // nothing has changed.
  [[nodiscard]] Status remove(LocalScope& scope);
  // Stores that the scopes, which have rows, were used at that time. Errors: the disk's.
  [[nodiscard]] Status touch(const std::vector<LocalScope*>& scopes, WallTime now);
  // Checks the structure of the file. Errors: corrupt, the disk's.
  [[nodiscard]] Status quick_check() { return file_.database().quick_check(); }
  // Limits cache.db and its write-ahead log. Errors: the disk's.
  [[nodiscard]] Status limit_file(std::int64_t bytes);
  // The file was replaced and has no row of that scope.
  static void forget(LocalScope& scope);
  // Forgets all unwritten changes.
  void forget_unwritten() { unwritten_.clear(); }

  // Notes what flush() has to write: the version, an object, all objects, or that it must be
  // durable.
  void note_version(LocalScope& scope) { (void)unwritten_of(scope); }
  void note_object(LocalScope& scope, const sync::watch::ObjectKey& key) {
    unwritten_of(scope).names[key] = true;
  }
  void note_all(LocalScope& scope) { unwritten_of(scope).whole = true; }
  void note_durable(LocalScope& scope) { unwritten_of(scope).durable = true; }

  // Writes all unwritten changes in one transaction or, if that fails, scope by scope. Durable if
  // one of the changes must be. Then calls `written` for each scope that was written. Errors: the
  // disk's; changes that could not be written stay unwritten.
  using OnWritten = std::function<void(LocalScope&)>;
  [[nodiscard]] Status flush(const OnWritten& written);

 private:
  struct Unwritten {
    ScopePtr scope;
    bool whole = false;    // write all objects, not only `names`
    bool durable = false;  // must be written durably
    std::map<sync::watch::ObjectKey, bool> names;
  };
  // A scope's row once the transaction is committed.
  struct Row {
    store::ScopeId id{};
    RowVersion version;
  };

  [[nodiscard]] Unwritten& unwritten_of(LocalScope& scope);
  [[nodiscard]] Result<Row> write(store::Cache& file, const store::Transaction& in,
                                  const Unwritten& unwritten) const;
  [[nodiscard]] static Result<Row> write_changes(store::Cache& file, const store::Transaction& in,
                                                 const Unwritten& unwritten, store::ScopeId row);
  [[nodiscard]] store::Durability durability() const;
  [[nodiscard]] Status write_together();
  [[nodiscard]] Status write_alone(const Unwritten& unwritten);

  CacheFile& file_;
  const Clock& clock_;
  std::map<ScopeNumber, Unwritten> unwritten_;
};

}  // namespace holdfast::agent
