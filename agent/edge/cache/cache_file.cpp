#include "agent/edge/cache/cache_file.h"

#include <algorithm>
#include <utility>

#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "store/reseal.h"
#include "store/salvage.h"

namespace holdfast::agent {

CacheFile::Tables::Tables(store::Database& from, const store::Sealing& sealing)
    : database(from),
      cache(from, sealing),
      answers(from, {.first_owner = std::string(node_owner)}, sealing),
      versions(from, "local version") {}

template <class File>
CacheFile::CacheFile(File file, const Clock& clock, const store::Sealing& sealing, bool seals_once)
    : sealing_(sealing),
      seals_once_(seals_once && sealing.seal != nullptr),
      file_(std::move(file), clock,
            {.begin =
                 [this](store::Database& database, const std::optional<store::Damage>& damage) {
                   return use(database, damage);
                 },
             .end = [this] { release(); },
             .replaced =
                 [this](const Error& why) {
                   // A damage was reported with the file that was kept.
                   if (store::is_file_gone(why)) log_warn("cache written anew", {{"why", why}});
                   if (on_replaced_) on_replaced_();
                 }}) {}

Result<std::unique_ptr<CacheFile>> CacheFile::open(const std::filesystem::path& file,
                                                   const Clock& clock,
                                                   const store::Sealing& sealing,
                                                   const store::DatabaseOptions& options) {
  std::unique_ptr<CacheFile> opened(
      new CacheFile(store::SelfRepairingDatabase::File{file, options, store::cache_schema()}, clock,
                    sealing, true));
  if (auto done = opened->file_.open(); !done) return fail(done.error());
  return opened;
}

Result<std::unique_ptr<CacheFile>> CacheFile::open(store::Database database, const Clock& clock,
                                                   const store::Sealing& sealing) {
  std::unique_ptr<CacheFile> opened(new CacheFile(std::move(database), clock, sealing, false));
  if (auto done = opened->file_.open(); !done) return fail(done.error());
  return opened;
}

Result<CacheFile::Tables*> CacheFile::tables() {
  if (!tables_) return fail(Errc::unavailable, "the damaged cache could not be replaced");
  return &*tables_;
}

Status CacheFile::use(store::Database& database, const std::optional<store::Damage>& damage) {
  // A new file is sealed before anything is copied into it: plain rows from a damaged file are
  // accepted no more than those of a sound one.
  if (seals_once_) {
    TRY(const store::Resealed sealed, store::seal_once(database, sealing_));
    if (sealed != store::Resealed{}) log_info("cache encrypted", {{"objects", sealed.objects}});
  }
  if (damage) {
    log_error("cache was damaged: file kept, new cache created",
              {{"kept", damage->file.string()}, {"why", damage->why}});
    TRY(const store::Salvaged salvaged, store::salvage_answers(damage->file, database));
    log_info("answers copied from the damaged cache",
             {{"answers", salvaged.entries}, {"refused", salvaged.refused}});
  }
  tables_.emplace(database, sealing_);
  return tables_->versions.advance_past(last_version_);
}

void CacheFile::release() {
  if (tables_) last_version_ = std::max(last_version_, tables_->versions.last());
  tables_.reset();
}

}  // namespace holdfast::agent
