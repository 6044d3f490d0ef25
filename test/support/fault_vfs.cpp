#include "test/support/fault_vfs.h"

#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/check.h"

namespace holdfast::test {
namespace {

FaultPlan plan;
FaultCounts counts;
std::map<std::string, std::set<sqlite3_int64>, std::less<>> unsynced_blocks;  // by file name

// The memory after this object holds the real file's sqlite3_file.
struct FaultFile {
  sqlite3_file base;
  const char* name;  // null for temporary files

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

FaultFile* fault_file(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file); }
sqlite3_file* real_file(sqlite3_file* file) { return fault_file(file)->real(); }
const sqlite3_io_methods* real_io(sqlite3_file* file) { return real_file(file)->pMethods; }
sqlite3_vfs* real_vfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

enum class Fate { pass, fail, die };

bool is_meant(const char* name) {
  return plan.within.empty() ||
         (name != nullptr && std::string_view(name).find(plan.within) != std::string_view::npos);
}

Fate next_step(const char* name) {
  if (!is_meant(name)) return Fate::pass;
  const std::int64_t step = ++counts.steps;
  if (step == plan.kill_at) return Fate::die;
  const bool fails =
      plan.fail_from > 0 && step >= plan.fail_from && step - plan.fail_from < plan.fail_steps;
  return fails ? Fate::fail : Fate::pass;
}

void die() { (void)raise(SIGKILL); }

void count_write(const char* name, int size, sqlite3_int64 at) {
  ++counts.writes;
  counts.bytes += size;
  constexpr sqlite3_int64 block = 4096;
  auto& blocks = unsynced_blocks[name == nullptr ? "" : name];
  for (sqlite3_int64 each = at / block; each * block < at + size; ++each) {
    if (blocks.insert(each).second) ++counts.blocks;
  }
}

int on_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  const Fate fate = next_step(fault_file(file)->name);
  if (fate != Fate::pass && plan.tear) {
    (void)real_io(file)->xWrite(real_file(file), bytes, size / 2, at);
  }
  if (fate == Fate::die) die();
  if (fate == Fate::fail) return plan.fault == DiskFault::full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  if (is_meant(fault_file(file)->name)) count_write(fault_file(file)->name, size, at);
  return real_io(file)->xWrite(real_file(file), bytes, size, at);
}

int on_truncate(sqlite3_file* file, sqlite3_int64 size) {
  const Fate fate = next_step(fault_file(file)->name);
  if (fate == Fate::die) die();
  if (fate == Fate::fail && plan.fault == DiskFault::broken) return SQLITE_IOERR_TRUNCATE;
  return real_io(file)->xTruncate(real_file(file), size);
}

std::string synced_copy_of(const std::string& name) { return name + ".synced"; }

void keep_synced(sqlite3_file* file) {
  const char* name = fault_file(file)->name;
  if (name == nullptr) return;
  sqlite3_int64 size = 0;
  CHECK(real_io(file)->xFileSize(real_file(file), &size) == SQLITE_OK);
  std::vector<char> content(static_cast<std::size_t>(size));
  if (size > 0) {
    const int whole = static_cast<int>(size);
    CHECK(real_io(file)->xRead(real_file(file), content.data(), whole, 0) == SQLITE_OK);
  }
  // Writes a new file: truncating an existing one to zero makes ext4 wait for the disk.
  std::error_code ignored;
  std::filesystem::remove(synced_copy_of(name), ignored);
  std::ofstream out(synced_copy_of(name), std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
}

int on_sync(sqlite3_file* file, int) {
  const Fate fate = next_step(fault_file(file)->name);
  if (fate == Fate::die) die();
  if (fate == Fate::fail && plan.fault == DiskFault::broken) return SQLITE_IOERR_FSYNC;
  if (is_meant(fault_file(file)->name)) {
    ++counts.syncs;
    const char* name = fault_file(file)->name;
    unsynced_blocks.erase(name == nullptr ? "" : name);
  }
  if (plan.keep_synced) keep_synced(file);
  return SQLITE_OK;
}

int on_delete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  const Fate fate = next_step(name);
  if (fate == Fate::die) die();
  if (fate == Fate::fail && plan.fault == DiskFault::broken) return SQLITE_IOERR_DELETE;
  std::error_code ignored;
  std::filesystem::remove(synced_copy_of(name), ignored);
  return real_vfs(vfs)->xDelete(real_vfs(vfs), name, sync_directory);
}

// The methods below forward to the real file unchanged.

int on_close(sqlite3_file* file) { return real_io(file)->xClose(real_file(file)); }
int on_read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 at) {
  return real_io(file)->xRead(real_file(file), bytes, size, at);
}
int on_size(sqlite3_file* file, sqlite3_int64* size) {
  return real_io(file)->xFileSize(real_file(file), size);
}
int on_lock(sqlite3_file* file, int level) { return real_io(file)->xLock(real_file(file), level); }
int on_unlock(sqlite3_file* file, int level) {
  return real_io(file)->xUnlock(real_file(file), level);
}
int on_check_lock(sqlite3_file* file, int* held) {
  return real_io(file)->xCheckReservedLock(real_file(file), held);
}
int on_control(sqlite3_file* file, int what, void* argument) {
  return real_io(file)->xFileControl(real_file(file), what, argument);
}
int on_sector(sqlite3_file* file) { return real_io(file)->xSectorSize(real_file(file)); }
int on_traits(sqlite3_file* file) { return real_io(file)->xDeviceCharacteristics(real_file(file)); }
int on_shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return real_io(file)->xShmMap(real_file(file), region, size, extend, memory);
}
int on_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real_io(file)->xShmLock(real_file(file), offset, count, flags);
}
void on_shm_barrier(sqlite3_file* file) { real_io(file)->xShmBarrier(real_file(file)); }
int on_shm_unmap(sqlite3_file* file, int remove) {
  return real_io(file)->xShmUnmap(real_file(file), remove);
}

const sqlite3_io_methods methods = {
    2,           on_close,       on_read,       on_write,   on_truncate, on_sync,   on_size,
    on_lock,     on_unlock,      on_check_lock, on_control, on_sector,   on_traits, on_shm_map,
    on_shm_lock, on_shm_barrier, on_shm_unmap,  nullptr,    nullptr,
};

int on_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  fault_file(file)->base.pMethods = nullptr;
  fault_file(file)->name = name;
  const int code = real_vfs(vfs)->xOpen(real_vfs(vfs), name, real_file(file), flags, flags_out);
  if (code == SQLITE_OK) fault_file(file)->base.pMethods = &methods;
  return code;
}

void install() {
  static sqlite3_vfs vfs;
  if (vfs.pAppData != nullptr) return;
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  CHECK(system != nullptr);
  vfs = *system;
  vfs.pNext = nullptr;
  vfs.zName = "fault";
  vfs.pAppData = system;
  vfs.szOsFile = static_cast<int>(sizeof(FaultFile)) + system->szOsFile;
  vfs.xOpen = on_open;
  vfs.xDelete = on_delete;
  CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

}  // namespace

void follow(const FaultPlan& wanted) {
  install();
  plan = wanted;
  counts = {};
  unsynced_blocks.clear();
}

const FaultCounts& fault_counts() { return counts; }

void use_for_all(bool all) {
  install();
  sqlite3_vfs* vfs = sqlite3_vfs_find(all ? "fault" : "unix");
  CHECK(vfs != nullptr && sqlite3_vfs_register(vfs, 1) == SQLITE_OK);
}

void lose_unsynced(const std::filesystem::path& database, Lost lost) {
  std::error_code ignored;
  std::filesystem::remove(database.string() + "-shm", ignored);
  for (const std::string suffix : {"", "-wal"}) {
    const std::string file = database.string() + suffix;
    if (lost == (suffix.empty() ? Lost::log : Lost::database)) continue;
    std::filesystem::remove(file, ignored);
    const std::string synced = synced_copy_of(file);
    if (std::filesystem::exists(synced)) std::filesystem::rename(synced, file);
  }
}

}  // namespace holdfast::test
