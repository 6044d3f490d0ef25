// The API server's answers that are not lists, as rows of cache.db: documents, tokens, the kinds of
// resources, tables.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/edge/cache/cache_file.h"
#include "platform/time.h"
#include "sync/wire/encoding.h"

namespace holdfast::agent {

class StoredAnswers {
 public:
  // `file` and the clock must outlive this. The node's answers have priority over those of other
  // callers.
  StoredAnswers(CacheFile& file, const Clock& clock) : file_(file), clock_(clock) {}

  // Errors: those of store::Answers.
  [[nodiscard]] Result<std::optional<store::Answer>> find(std::string_view owner,
                                                          std::string_view key);
  // The keys of an owner's answers that begin with `prefix`, sorted. Errors: the disk's.
  [[nodiscard]] Result<std::vector<std::string>> keys(std::string_view owner,
                                                      std::string_view prefix);
  // A token is durable when this returns. Errors: exhausted, the disk's.
  [[nodiscard]] Status put(std::string_view owner, std::string_view key,
                           const store::Answer& answer);
  // Errors: the disk's.
  [[nodiscard]] Status remove(std::string_view owner, std::string_view key);
  // Removes other callers' tokens that ended a month ago or earlier. Errors: the disk's.
  [[nodiscard]] Status remove_expired();

  // The kind of that scope's objects, as learned from its first list; nothing if it was never
  // listed. Errors: as find().
  [[nodiscard]] Result<std::optional<sync::wire::ScopeKind>> kind_of(const store::ScopeKey& key);
  // Errors: as put().
  [[nodiscard]] Status put_kind(const store::ScopeKey& key, const sync::wire::ScopeKind& kind);

 private:
  CacheFile& file_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
