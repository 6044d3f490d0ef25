#include "agent/edge/cache/row_body.h"

#include <optional>

namespace holdfast::agent {

Result<std::string> RowBody::read() const {
  using Found = Result<std::optional<store::CachedObject>>;
  Found found = source_->file.run([this](CacheFile::Tables& tables) -> Found {
    return tables.cache.find(source_->key, source_->row, {key_.namespace_name, key_.name});
  });
  if (!found) {
    const auto scope = source_->scope.lock();
    const bool is_lost = found.error().code == Errc::corrupt || found.error().code == Errc::denied;
    if (scope && is_lost) scope->set_unreadable(true);
    return fail(found.error());
  }
  const bool is_there = *found && (*found)->resource_version == std::to_string(version_);
  if (!is_there) return fail(Errc::gone, key_.name + " was replaced in the cache");
  return std::move((*found)->bytes);
}

}  // namespace holdfast::agent
