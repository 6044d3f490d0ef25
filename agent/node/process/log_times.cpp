#include "agent/node/process/log_times.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <span>

#include "agent/node/process/attempt_files.h"

namespace holdfast::agent::node {
namespace {

constexpr std::size_t record_bytes = 16;
constexpr Duration pause_usual = std::chrono::milliseconds(20);
// For containers that write for ever, so that the file grows by 1.4 MB a day at most.
constexpr Duration pause_long = std::chrono::seconds(1);
constexpr std::uint64_t large = 4UL << 20;
constexpr std::uint64_t times_bytes_max = 64UL << 20;

using RecordBytes = std::array<unsigned char, record_bytes>;

void put_number(std::uint64_t number, unsigned char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<unsigned char>(number >> (8 * i));
}

std::uint64_t get_number(const unsigned char* from) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number |= std::uint64_t{from[i]} << (8 * i);
  return number;
}

}  // namespace

LogTimesWriter::LogTimesWriter(const Clock& clock, const fs::Path& dir)
    : clock_(clock),
      watch_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      log_(::open((dir / log_file).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)),
      times_(::open((dir / log_times_file).c_str(),
                    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  const bool watched = watch_.is_open() && log_.is_open() && times_.is_open() &&
                       ::inotify_add_watch(watch_.get(), (dir / log_file).c_str(), IN_MODIFY) >= 0;
  if (!watched) watch_.close();
}

void LogTimesWriter::note() {
  if (!watch_.is_open()) return;
  std::array<char, 4096> events{};
  while (::read(watch_.get(), events.data(), events.size()) > 0) {
  }
  struct stat found {};
  if (::fstat(log_.get(), &found) != 0) return;
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (size < seen_) {
    if (::ftruncate(times_.get(), 0) != 0) return;
    seen_ = written_ = 0;
  }
  if (size == seen_ || written_ >= times_bytes_max) return;
  RecordBytes record{};
  put_number(size, record.data());
  put_number(static_cast<std::uint64_t>(clock_.wall().time_since_epoch().count()),
             record.data() + 8);
  if (::write(times_.get(), record.data(), record.size()) != ssize_t{record_bytes}) return;
  seen_ = size;
  written_ += record_bytes;
}

Duration LogTimesWriter::pause() const { return written_ < large ? pause_usual : pause_long; }

LogTimesReader::LogTimesReader(const fs::Path& file)
    : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {}

std::optional<LogTimesReader::Record> LogTimesReader::read(std::uint64_t index) const {
  RecordBytes bytes{};
  const auto at = static_cast<off_t>(index * record_bytes);
  if (::pread(file_.get(), bytes.data(), bytes.size(), at) != ssize_t{record_bytes}) {
    return std::nullopt;
  }
  const auto time = static_cast<std::int64_t>(get_number(bytes.data() + 8));
  return Record{get_number(bytes.data()), WallTime(WallTime::duration(time))};
}

std::uint64_t LogTimesReader::count() const {
  struct stat found {};
  if (::fstat(file_.get(), &found) != 0) return 0;
  return static_cast<std::uint64_t>(found.st_size) / record_bytes;
}

std::optional<WallTime> LogTimesReader::time_of(std::uint64_t offset) {
  if (offset < asked_) next_ = 0;  // The log was cut, and is read from its beginning again.
  asked_ = offset;
  const auto near = read(next_);
  if (near && near->size > offset) return near->time;
  // The sizes grow, so the first record that is larger is found by halving.
  std::uint64_t from = next_;
  std::uint64_t end = count();
  while (from < end) {
    const std::uint64_t middle = from + (end - from) / 2;
    const auto record = read(middle);
    if (record && record->size <= offset) {
      from = middle + 1;
    } else {
      end = middle;
    }
  }
  next_ = from;
  const auto found = read(next_);
  return found ? std::optional(found->time) : std::nullopt;
}

}  // namespace holdfast::agent::node
