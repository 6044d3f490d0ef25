#include "agent/ctl/rekey.h"

#include "agent/edge/identity/cache_seal.h"
#include "platform/fs/file.h"
#include "store/cache.h"
#include "store/reseal.h"

namespace holdfast::agent {

Result<std::string> rekey(const RekeySettings& settings) {
  if (settings.new_key_file.empty()) return fail(Errc::invalid, "--new-key-file is missing");
  std::unique_ptr<store::Seal> from;
  if (!settings.old_key_file.empty()) {
    TRY(from, read_cache_key(settings.old_key_file));
  }
  TRY(const std::unique_ptr<store::Seal> to, read_cache_key(settings.new_key_file));
  const fs::Path dir(settings.data_dir);
  std::error_code ec;
  if (!std::filesystem::exists(dir / "cache.db", ec)) {
    return fail(Errc::not_found, settings.data_dir + ": no agent has run here");
  }
  auto lock = fs::FileLock::take(dir / "lock");
  if (!lock) return fail("stop the agent first", lock.error());
  TRY(store::Database database, store::Database::open(dir / "cache.db", {}));
  if (auto done = store::migrate(database, store::cache_schema()); !done) return fail(done.error());
  const auto done = store::reseal(database, from.get(), sealing_with(to.get()));
  if (!done && done.error().code == Errc::conflict) return fail(done.error());
  if (!done) return fail("nothing was changed", done.error());
  return std::to_string(done->objects) + " objects and " + std::to_string(done->answers) +
         " tokens are encrypted with the key in " + settings.new_key_file + "\n";
}

}  // namespace holdfast::agent
