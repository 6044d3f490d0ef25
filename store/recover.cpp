#include "store/recover.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "platform/text.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kept_max = 3;

std::filesystem::path with_suffix(const std::filesystem::path& file, std::string_view suffix) {
  std::filesystem::path longer = file;
  longer += suffix;
  return longer;
}

// A clean close leaves no log.
bool was_not_closed_cleanly(const std::filesystem::path& file) {
  std::error_code ec;
  const std::uintmax_t size = std::filesystem::file_size(with_suffix(file, "-wal"), ec);
  return !ec && size > 0;
}

Result<Database> open_if_intact(const std::filesystem::path& file, const DatabaseOptions& options,
                                const Schema& schema) {
  const bool suspicious = was_not_closed_cleanly(file);
  TRY(Database database, Database::open(file, options));
  std::error_code ec;
  if (suspicious && std::filesystem::file_size(file, ec) <= checked_bytes_max) {
    if (auto sound = database.quick_check(); !sound) return fail(sound.error());
  }
  if (auto done = migrate(database, schema); !done) return fail(done.error());
  return database;
}

Status move_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code ec;
  std::filesystem::rename(from, to, ec);
  if (!ec || ec == std::errc::no_such_file_or_directory) return {};
  return fail(Errc::unavailable, "move " + from.string() + ": " + ec.message(), ec);
}

void remove_database(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(with_suffix(file, suffix), ignored);
}

// Keeps only the `kept_max` newest damaged files, and always `newest`.
void forget_older(const std::filesystem::path& file, std::int64_t newest) {
  const std::string start = file.filename().string() + ".damaged-";
  std::vector<std::int64_t> seconds;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path(), ec)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    const auto number = parse_int<std::int64_t>(std::string_view(name).substr(start.size()));
    if (number && *number != newest) seconds.push_back(*number);
  }
  std::sort(seconds.begin(), seconds.end(), std::greater<>());
  for (std::size_t i = kept_max - 1; i < seconds.size(); ++i) {
    remove_database(with_suffix(file, ".damaged-" + std::to_string(seconds[i])));
  }
}

}  // namespace

Result<std::filesystem::path> set_aside(const std::filesystem::path& file, WallTime now) {
  using std::chrono::seconds;
  std::int64_t stamp = std::chrono::duration_cast<seconds>(now.time_since_epoch()).count();
  std::filesystem::path target;
  std::error_code ec;
  do {
    target = with_suffix(file, ".damaged-" + std::to_string(stamp++));
  } while (std::filesystem::exists(target, ec));

  // The log goes first: if only the log were left behind, it would be replayed into the new file.
  for (const char* suffix : {"-wal", "-shm", ""}) {
    auto moved = move_file(with_suffix(file, suffix), with_suffix(target, suffix));
    if (!moved) return fail(moved.error());
  }
  forget_older(file, stamp - 1);
  return target;
}

Result<Recovered> open_or_rebuild(const std::filesystem::path& file, const DatabaseOptions& options,
                                  const Schema& schema, WallTime now) {
  auto opened = open_if_intact(file, options, schema);
  if (opened) return Recovered{*std::move(opened)};
  if (opened.error().code != Errc::corrupt) return fail(opened.error());
  TRY(std::filesystem::path moved_to, set_aside(file, now));
  TRY(Database fresh, open_if_intact(file, options, schema));
  return Recovered{std::move(fresh), Damage{std::move(moved_to), opened.error().what}};
}

}  // namespace holdfast::store
