// Opens, restores and drops the scopes of ScopeTable, makes room for them, and writes them to
// cache.db (ScopeRows).
//
// Changes are applied in memory at once (ScopeContent) and written to disk in groups; flush()
// writes them now. After a restart every scope that was complete is complete again, and watches
// resume where they were.
//
// Threading: the loop's thread only.

#pragma once

#include <vector>

#include "agent/edge/cache/scope_rows.h"
#include "agent/edge/cache/scope_table.h"
#include "agent/edge/cache/stored_answers.h"

namespace holdfast::agent {

class Scopes {
 public:
  // All references are borrowed.
  Scopes(ScopeTable& table, CacheFile& file, StoredAnswers& answers, const Clock& clock);
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;
  ~Scopes();

  // Restores the scopes of the last run. If the file is damaged, it is replaced, and there are
  // none. Errors: the disk's; corrupt if it is not to be replaced.
  [[nodiscard]] Status restore();
  // Returns the scope of that key and makes it if needed. May drop other scopes to make room; see
  // CacheLimits. A new scope gets its row in cache.db with its first list. Errors: exhausted (too
  // many scopes).
  [[nodiscard]] Result<ScopePtr> open(const store::ScopeKey& key);
  // Removes the scope and its rows. Errors: the disk's; then it stays.
  [[nodiscard]] Status drop(LocalScope& scope);
  // Makes room for the scope to hold `objects` objects and `bytes` bytes. Errors: exhausted.
  [[nodiscard]] Status admit(const LocalScope& scope, std::size_t objects, std::size_t bytes);
  // Stores when scopes were last used, if the stored time is a day or more off.
  void remember_use();

  // Writes all unwritten changes, as ScopeRows::flush(). Then notifies the watches of held scopes.
  // Drops the scopes whose objects turned out to be unreadable: they are listed again when they are
  // requested. Errors: the disk's; changes that could not be written stay unwritten.
  [[nodiscard]] Status flush();
  // As flush(), but also writes how far each scope has come without changes of its objects, so that
  // its watch continues there after a restart.
  [[nodiscard]] Status flush_versions();
  // Checks the file, and writes all scopes anew if it was damaged. Errors: the disk's.
  [[nodiscard]] Status check_file();

  [[nodiscard]] ScopeTable& table() { return table_; }
  // What is to be written, for ScopeContent.
  [[nodiscard]] ScopeRows& rows() { return rows_; }

 private:
  [[nodiscard]] Status restore_all();
  [[nodiscard]] Status restore_one(const store::Scope& row);
  // Whether a restored scope fits the limits. The run that stored it may have had larger ones. One
  // of the node's that does not fit into memory keeps its objects on disk.
  [[nodiscard]] Result<bool> fits(const store::Scope& row, LocalScope& scope);
  // Notes all scopes as unwritten, because the file was replaced.
  void write_anew();
  // The scope's changes are on disk: counts it anew, and ends its hold.
  void release(LocalScope& scope);
  void drop_unreadable();
  [[nodiscard]] Status make_room_for(const store::ScopeKey& key);
  // Drops a scope for want of room. Errors: exhausted, because of the disk.
  [[nodiscard]] Status evict(const ScopePtr& scope);

  ScopeTable& table_;
  CacheFile& file_;
  StoredAnswers& answers_;
  const Clock& clock_;
  ScopeRows rows_;
};

}  // namespace holdfast::agent
