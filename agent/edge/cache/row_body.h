// The bytes of a cached object that are only in cache.db.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>
#include <string>

#include "agent/edge/cache/cache_file.h"
#include "agent/edge/cache/local_scope.h"
#include "sync/watch/body.h"

namespace holdfast::agent {

// The rows of one scope, or of a part of it that is not adopted yet (store::Cache::begin_part()).
struct RowSource {
  CacheFile& file;  // borrowed
  // Marked as unreadable if a row of it is damaged.
  std::weak_ptr<LocalScope> scope;
  store::ScopeKey key;
  store::ScopeId row;
};

class RowBody final : public sync::watch::BodyPlace {
 public:
  RowBody(std::shared_ptr<const RowSource> source, sync::watch::ObjectKey key,
          sync::objects::Version version)
      : source_(std::move(source)), key_(std::move(key)), version_(version) {}

  // Errors: gone if the row has another version; corrupt, denied (see store::Cache), the disk's.
  [[nodiscard]] Result<std::string> read() const override;

 private:
  std::shared_ptr<const RowSource> source_;
  sync::watch::ObjectKey key_;
  sync::objects::Version version_;
};

}  // namespace holdfast::agent
