#include "store/self_repairing.h"

#include <utility>

#include "store/copy.h"

namespace holdfast::store {
namespace {

constexpr double replacements_per_second = 1.0 / 60;
constexpr double replacements_at_once = 3;  // as many damaged files as recover.h keeps

TokenBucket pace(const Clock& clock) {
  return {clock.mono(), replacements_per_second, {.capacity = replacements_at_once}};
}

}  // namespace

SelfRepairingDatabase::SelfRepairingDatabase(File file, const Clock& clock, User user)
    : file_(std::move(file)),
      clock_(clock),
      user_(std::move(user)),
      database_(Database::in_memory()),
      pace_(pace(clock)) {}

SelfRepairingDatabase::SelfRepairingDatabase(Database database, const Clock& clock, User user)
    : clock_(clock), user_(std::move(user)), database_(std::move(database)), pace_(pace(clock)) {}

Status SelfRepairingDatabase::open() {
  Status opened = open_file();
  if (opened || opened.error().code != Errc::corrupt) return opened;
  return replace(opened.error());
}

Status SelfRepairingDatabase::open_file() {
  if (file_) {
    TRY(Recovered found,
        open_or_rebuild(file_->path, file_->options, file_->schema, clock_.wall()));
    database_ = std::move(found.database);
    if (found.damage) damage_ = std::move(found.damage);
  }
  if (auto begun = user_.begin(database_, damage_); !begun) return begun;
  damage_.reset();
  is_used_ = true;
  return {};
}

Status SelfRepairingDatabase::check() {
  return run([this]() -> Status {
    TRY(const Database::Pages pages, database_.pages());
    const auto bytes = static_cast<std::uintmax_t>(pages.total * pages.bytes);
    return bytes <= checked_bytes_max ? database_.quick_check() : Status();
  });
}

Status SelfRepairingDatabase::repair(const Error& why) {
  if (!pace_.take(clock_.mono())) return fail(why);
  return replace(why);
}

Status SelfRepairingDatabase::replace(const Error& why) {
  if (!file_) return fail(why);
  const bool is_gone = is_file_gone(why);
  bool is_replaced = false;
  if (is_gone) {
    const Status copied = copy_database(database_, file_->path);
    is_replaced = !copied && copied.error().code == Errc::conflict;
    if (!copied && !is_replaced) return copied;
  }
  is_used_ = false;
  user_.end();
  database_ = Database::in_memory();  // closes the file
  // Another file took the place of ours, whose log may still be there.
  if (is_replaced) {
    if (auto removed = remove_log(file_->path); !removed) return removed;
  }
  // If the last attempt came no further, the damaged file is aside already.
  if (!is_gone && !damage_) {
    TRY(std::filesystem::path kept, set_aside(file_->path, clock_.wall()));
    damage_ = Damage{std::move(kept), why.what};
  }
  if (auto opened = open_file(); !opened) return opened;
  ++replacements_;
  if (user_.replaced) user_.replaced(why);
  return {};
}

}  // namespace holdfast::store
