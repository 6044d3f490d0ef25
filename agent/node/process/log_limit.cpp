#include "agent/node/process/log_limit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "platform/fs/errno.h"
#include "platform/integers.h"

namespace holdfast::agent::node {
namespace {

// The last `count` bytes of the file, or fewer if it shrinks meanwhile.
Result<std::string> read_end(const Descriptor& file, std::uint64_t size, std::uint64_t count) {
  std::string bytes(to_size(count), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto at = static_cast<off_t>(size - count + filled);
    const ssize_t read = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled, at);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return fail_errno("read log");
    if (read == 0) break;
    filled += static_cast<std::size_t>(read);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

Result<bool> limit_log(const fs::Path& log, std::uint64_t limit) {
  const Descriptor file(::open(log.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open() && errno == ENOENT) return false;
  if (!file.is_open()) return fail_errno("open " + log.string());
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return fail_errno("size of " + log.string());
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (size <= limit) return false;
  TRY(const std::string end, read_end(file, size, limit / 2));
  if (auto kept = fs::atomic_write(log.string() + ".1", end); !kept) return fail(kept.error());
  if (::ftruncate(file.get(), 0) != 0) return fail_errno("cut " + log.string());
  return true;
}

}  // namespace holdfast::agent::node
