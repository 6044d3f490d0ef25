// The rows of the scopes in cache.db, and the changes that are still to be written to them.
//
// Changes are written in groups, to spare the flash: flush() writes them. A power cut may lose the
// last groups, unless one of their scopes was noted as durable. The version of a scope's row is
// only written if no object written with it has the same version, as after a deletion.
//
// A scope that keeps its objects on disk (LocalScope::keeps_on_disk()) holds the bytes of an object
// in memory only until they are written. Before they are replaced in the file, bytes that somebody
// else still needs, as a list that is being sent, are taken back into memory, up to
// sync::watch::taken_back_max; beyond that, what needs them breaks off.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "agent/edge/cache/cache_file.h"
#include "agent/edge/cache/local_scope.h"
#include "agent/edge/cache/row_body.h"

namespace holdfast::agent {

class ScopeRows {
 public:
  // `file` and the clock must outlive this. What reads does not replace a damaged file; what writes
  // does.
  ScopeRows(CacheFile& file, const Clock& clock) : file_(file), clock_(clock) {}

  // The rows that the last run left. Errors: the disk's.
  [[nodiscard]] Result<std::vector<store::Scope>> all();
  [[nodiscard]] Result<store::CacheSize> size(const store::Scope& row);
  // Fills the scope with the objects of its row, of that kind; their bytes stay in the file if the
  // scope keeps them on disk. A row without a valid version is treated as never complete. Errors:
  // corrupt, denied (see store::Cache), the disk's.
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
  void forget(LocalScope& scope);
  // Forgets all unwritten changes.
  void forget_unwritten() { unwritten_.clear(); }

  // A list that is written while it arrives. Whoever begins one adopts or drops it.
  struct Part {
    std::optional<store::ScopeId> id;  // nothing: not begun
    std::uint64_t replacements = 0;    // of the file when it was begun
  };
  // Writes objects into the part, which is begun if needed; their bytes are only there afterwards.
  // Errors: exhausted (lists would take more of the file than sync::watch::lists_share), gone (the
  // file was replaced since the part was begun), the disk's.
  using ObjectRefs = std::vector<std::pair<sync::watch::ObjectKey, sync::watch::CachedObject*>>;
  [[nodiscard]] Status write_part(LocalScope& scope, Part& part, const ObjectRefs& objects);
  void drop_part(Part& part);
  // Whether the file was replaced since the part was begun: its id has another meaning by now.
  [[nodiscard]] bool is_outdated(const Part& part) const {
    return part.id && part.replacements != file_.replacements();
  }
  // Deletes the parts that the last run has left. Errors: the disk's.
  [[nodiscard]] Status drop_parts();
  // Whether the file that has replaced another has the scope as it was last written, and no part of
  // it is missing that was to be adopted.
  [[nodiscard]] bool is_intact(const LocalScope& scope);

  // Notes what flush() has to write: the version, an object, all objects, a part, or that it must
  // be durable.
  void note_version(LocalScope& scope) { (void)unwritten_of(scope); }
  void note_object(LocalScope& scope, const sync::watch::ObjectKey& key) {
    unwritten_of(scope).names[key] = true;
  }
  void note_part(LocalScope& scope, Part& part) {
    if (part.id) unwritten_of(scope).parts.push_back(*std::exchange(part.id, {}));
  }
  // Notes bytes that flush() will replace or remove.
  void note_replaced(LocalScope& scope, const sync::watch::Body& bytes) {
    if (!bytes.is_in_memory()) unwritten_of(scope).replaced.push_back(bytes);
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
    std::vector<store::ScopeId> parts;        // to be adopted, in this order
    std::vector<sync::watch::Body> replaced;  // which it replaces in the file
  };
  // A scope's row once the transaction is committed.
  struct Row {
    store::ScopeId id{};
    RowVersion version;
  };

  [[nodiscard]] Unwritten& unwritten_of(LocalScope& scope);
  [[nodiscard]] Result<Row> write(store::Cache& file, const store::Transaction& in,
                                  const Unwritten& unwritten) const;
  [[nodiscard]] static Result<Row> write_all(store::Cache& file, const store::Transaction& in,
                                             const Unwritten& unwritten, store::ScopeId row);
  [[nodiscard]] static Result<Row> write_changes(store::Cache& file, const store::Transaction& in,
                                                 const Unwritten& unwritten, store::ScopeId row);
  [[nodiscard]] store::Durability durability() const;
  [[nodiscard]] Status write_together();
  [[nodiscard]] Status write_alone(const Unwritten& unwritten);
  [[nodiscard]] std::shared_ptr<const RowSource> source_of(LocalScope& scope, store::ScopeId row);
  // Takes back what others need of the bytes that are about to be replaced.
  void take_back();
  // The scope was written as `row`. Frees the bytes of a scope that keeps them on disk.
  void finish(const Unwritten& unwritten, const Row& row);

  CacheFile& file_;
  const Clock& clock_;
  std::int64_t file_bytes_max_ = 0;  // without the write-ahead log; 0: not limited
  std::map<ScopeNumber, Unwritten> unwritten_;
  std::vector<sync::watch::Body> taken_back_;
};

}  // namespace holdfast::agent
