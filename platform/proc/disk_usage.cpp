#include "platform/proc/disk_usage.h"

#include <optional>

#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::proc {
namespace {

constexpr std::size_t file_limit = 4096;

std::optional<std::uint64_t> value_of(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    return parse_int<std::uint64_t>(trim(line.substr(name.size())));
  }
  return std::nullopt;
}

}  // namespace

Result<DiskUsage> parse_disk_usage(std::string_view text) {
  const auto read = value_of(text, "read_bytes:");
  const auto written = value_of(text, "write_bytes:");
  if (!read || !written) return fail(Errc::corrupt, "/proc/self/io: no read_bytes or write_bytes");
  return DiskUsage{*read, *written};
}

Result<DiskUsage> disk_usage() {
  TRY(const std::string text, fs::read_all("/proc/self/io", file_limit));
  return parse_disk_usage(text);
}

}  // namespace holdfast::proc
