#include "store/copy.h"

#include <string_view>
#include <system_error>

#include "platform/check.h"
#include "platform/fs/file.h"

namespace holdfast::store {

Status copy_database(Database& database, const std::filesystem::path& file) {
  CHECK(!database.in_transaction());
  std::error_code ec;
  if (std::filesystem::exists(file, ec)) return fail(Errc::conflict, file.string() + " exists");
  std::filesystem::path copy = file;
  copy += ".copy";
  // SQLite writes into an empty file. One of an attempt that was broken off is replaced.
  Status written = fs::atomic_write(copy, "");
  if (written) {
    written = database.prepare("VACUUM INTO ?1").use(std::string_view(copy.native())).run();
  }
  if (written) written = remove_log(file);
  if (written) written = fs::move_synced(copy, file);
  if (!written) std::filesystem::remove(copy, ec);
  return written;
}

Status remove_log(const std::filesystem::path& file) {
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::path log = file;
    log += suffix;
    std::error_code ec;
    std::filesystem::remove(log, ec);
    if (ec) return fail(Errc::unavailable, "remove " + log.string() + ": " + ec.message());
  }
  return {};
}

}  // namespace holdfast::store
