#include "agent/node/kubelet/container_log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "platform/fs/errno.h"
#include "platform/integers.h"
#include "platform/loop/clock.h"

namespace holdfast::agent::node {
namespace {

constexpr std::size_t block_bytes = 32UL * 1024;
constexpr Duration follow_interval = std::chrono::milliseconds(200);

// As the kubelet prints times: with nine digits, so that the lines are aligned.
std::string log_time(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  std::string digits = std::to_string((time - second).count());
  digits.insert(0, 9 - digits.size(), '0');
  std::string text = format_rfc3339(second);
  text.pop_back();  // the Z
  return text + "." + digits + "Z ";
}

Result<struct stat> stat_of(const Descriptor& file) {
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return fail_errno("size of a container's log");
  return found;
}

Result<std::size_t> read_at(const Descriptor& file, char* into, std::size_t count,
                            std::uint64_t at) {
  for (;;) {
    const ssize_t got = ::pread(file.get(), into, count, static_cast<off_t>(at));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return fail_errno("read a container's log");
  }
}

}  // namespace

LogReader::LogReader(ContainerRun run, const sync::node::LogOptions& options, WallTime now)
    : run_(std::move(run)),
      options_(options),
      since_(options.since(now)),
      times_(run_.log_times),
      block_(std::make_unique_for_overwrite<char[]>(block_bytes)),
      left_(options.limit_bytes ? static_cast<std::uint64_t>(*options.limit_bytes)
                                : std::numeric_limits<std::uint64_t>::max()) {}

Status LogReader::open() {
  file_ = Descriptor(::open(run_.log.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file_.is_open()) {
    if (errno == ENOENT) return {};
    return fail_errno("open a container's log");
  }
  if (!options_.tail_lines) return {};
  TRY(const struct stat found, stat_of(file_));
  return find_tail(static_cast<std::uint64_t>(found.st_size));
}

// Searches backwards for the end of the line before the wanted ones.
Status LogReader::find_tail(std::uint64_t size) {
  std::int64_t wanted = *options_.tail_lines;
  position_ = size;
  if (wanted == 0) return {};
  std::uint64_t end = size;
  while (end > 0) {
    const std::size_t count = to_size(std::min<std::uint64_t>(end, block_bytes));
    TRY(const std::size_t got, read_at(file_, block_.get(), count, end - count));
    if (got != count) break;  // It was cut meanwhile.
    for (std::size_t i = count; i > 0; --i) {
      const std::uint64_t after = end - count + i;
      if (block_[i - 1] != '\n' || after == size) continue;
      if (--wanted > 0) continue;
      position_ = after;
      return {};
    }
    end -= count;
  }
  position_ = 0;
  return {};
}

Result<std::size_t> LogReader::read_block() {
  if (!file_.is_open()) {
    if (auto opened = open(); !opened) return fail(opened.error());
  }
  if (!file_.is_open()) return std::size_t{0};
  TRY(const struct stat found, stat_of(file_));
  if (static_cast<std::uint64_t>(found.st_size) < position_) {
    position_ = 0;
    at_line_start_ = true;
  }
  return read_at(file_, block_.get(), block_bytes, position_);
}

Result<std::string> LogReader::read() {
  std::string out;
  while (out.empty() && !is_done()) {
    TRY(const std::size_t count, read_block());
    if (count == 0) break;
    take(std::string_view(block_.get(), count), out);
    position_ += count;
  }
  if (out.size() > left_) out.resize(to_size(left_));
  left_ -= out.size();
  return out;
}

void LogReader::take(std::string_view block, std::string& out) {
  const std::uint64_t start = position_;
  for (std::size_t at = 0; at < block.size();) {
    position_ = start + at;
    if (at_line_start_) begin_line(out);
    const std::size_t line_end = block.find('\n', at);
    const std::size_t next = line_end == block.npos ? block.size() : line_end + 1;
    if (!skipping_) out.append(block, at, next - at);
    at_line_start_ = line_end != block.npos;
    at = next;
  }
  position_ = start;
}

void LogReader::begin_line(std::string& out) {
  skipping_ = false;
  if (!options_.timestamps && !since_) return;
  std::optional<WallTime> time = times_.time_of(position_);
  if (!time) {
    const auto found = stat_of(file_);
    if (!found) return;
    time = WallTime(std::chrono::seconds(found->st_mtim.tv_sec) +
                    std::chrono::nanoseconds(found->st_mtim.tv_nsec));
  }
  skipping_ = since_ && *time < *since_;
  if (options_.timestamps && !skipping_) out += log_time(*time);
}

LogStream::LogStream(asio::any_io_executor executor, LogReader reader, bool follow,
                     std::function<bool()> is_running)
    : reader_(std::move(reader)),
      follow_(follow),
      is_running_(std::move(is_running)),
      changed_(std::move(executor)) {}

asio::awaitable<Result<std::string>> LogStream::next() {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  for (;;) {
    if (cancelled_) co_return fail(Errc::cancelled, "log: nobody reads it any more");
    // In this order, so that what the container has written at last is not missed.
    const bool goes_on = follow_ && is_running_();
    CO_TRY(std::string piece, reader_.read());
    if (!piece.empty() || !goes_on || reader_.is_done()) co_return piece;
    (void)co_await changed_.wait_until(clock.mono() + follow_interval);
  }
}

void LogStream::cancel() {
  cancelled_ = true;
  changed_.notify_all();
}

}  // namespace holdfast::agent::node
