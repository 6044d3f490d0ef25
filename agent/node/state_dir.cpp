#include "agent/node/state_dir.h"

#include <algorithm>

#include "agent/node/pod_record.h"
#include "platform/fs/ownership.h"
#include "platform/text.h"
#include "sync/runtime/pod_runtime.h"

namespace holdfast::agent::node {
namespace {

constexpr std::size_t record_limit = 4U << 20;  // more than an API server accepts as one object
constexpr const char* record_file = "pod.json";

}  // namespace

Result<StateDir> StateDir::open(const fs::Path& dir) {
  // A shim has another working directory, so the path must not be relative.
  if (!dir.is_absolute()) return fail(Errc::invalid, dir.string() + ": not an absolute path");
  if (auto made = fs::ensure_own_dir(dir / "pods"); !made) return fail(made.error());
  auto lock = fs::FileLock::take(dir / "lock");
  if (!lock) return fail("open the data directory", lock.error());
  return StateDir(dir, *std::move(lock));
}

Result<std::vector<sync::runtime::PodRecord>> StateDir::load(std::vector<Error>& damaged) const {
  std::vector<sync::runtime::PodRecord> records;
  TRY(const auto uids, fs::list_dir(pods()));
  const std::string boot_id = proc::read_boot_id().value_or("");
  for (const std::string& uid : uids) {
    const fs::Path file = pod(uid) / record_file;
    const auto text = fs::read_all(file, record_limit);
    if (!text) {
      damaged.push_back(text.error());
      continue;
    }
    auto record = read_pod_record(*text, boot_id);
    const bool is_its_own =
        record && record->pod->metadata.uid == uid && sync::runtime::is_runnable(*record->pod);
    if (is_its_own) {
      records.push_back(*std::move(record));
    } else {
      const std::string why = record ? "it is not the record of this pod" : record.error().what;
      damaged.push_back({Errc::corrupt, file.string() + ": " + why, {}});
    }
  }
  return records;
}

Status StateDir::record(const sync::runtime::PodRecord& record) const {
  const fs::Path dir = pod(record.pod->metadata.uid);
  if (auto made = fs::ensure_dir(dir); !made) return fail(made.error());
  const std::string boot_id = proc::read_boot_id().value_or("");
  return fs::atomic_write(dir / record_file, to_json(record, boot_id));
}

Status StateDir::remove(const std::string& uid) const {
  // The record is removed first: after a crash the rest has no record, and no container of it is
  // started again.
  const fs::Path dir = pod(uid);
  if (auto removed = fs::remove_tree(dir / record_file); !removed) return removed;
  if (auto synced = fs::sync_dir(dir); !synced && synced.error().code != Errc::not_found) {
    return synced;
  }
  if (auto removed = fs::remove_tree(dir); !removed) return removed;
  return fs::sync_dir(pods());
}

std::vector<std::string> StateDir::uids() const {
  auto names = fs::list_dir(pods()).value_or(std::vector<std::string>());
  std::erase_if(names, [](const std::string& name) { return !sync::runtime::is_safe_name(name); });
  return names;
}

std::vector<std::string> StateDir::containers(const std::string& uid) const {
  auto names = fs::list_dir(pod(uid)).value_or(std::vector<std::string>());
  std::erase_if(names, [](const std::string& name) { return !sync::runtime::is_safe_name(name); });
  return names;
}

std::vector<std::int32_t> StateDir::attempts(const std::string& uid,
                                             const std::string& container) const {
  std::vector<std::int32_t> numbers;
  const auto names = fs::list_dir(pod(uid) / container).value_or(std::vector<std::string>());
  for (const std::string& name : names) {
    const auto number = parse_int<std::int32_t>(name);
    if (number && *number >= 0) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

fs::Path StateDir::attempt(const std::string& uid, const std::string& container,
                           std::int32_t number) const {
  return pod(uid) / container / std::to_string(number);
}

fs::Path StateDir::work(const std::string& uid, const std::string& container) const {
  return pod(uid) / container / "work";
}

Status StateDir::create_attempt(const std::string& uid, const std::string& container,
                                std::int32_t number, const AttemptRecord& record) const {
  const fs::Path dir = attempt(uid, container, number);
  if (fs::list_dir(dir)) return fail(Errc::conflict, "attempt " + dir.string() + " exists");
  if (auto made = fs::ensure_dir(work(uid, container)); !made) return fail(made.error());
  if (auto made = fs::ensure_dir(dir); !made) return fail(made.error());
  return fs::atomic_write(dir / attempt_file, to_json(record));
}

}  // namespace holdfast::agent::node
