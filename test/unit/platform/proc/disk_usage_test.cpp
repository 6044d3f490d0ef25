// The number of bytes that a process has written, as the kernel reports it.

#include "platform/proc/disk_usage.h"

namespace holdfast::proc {
namespace {

TEST(DiskUsage, IsReadFromTheKernelsText) {
  const std::string text =
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 8192\nwrite_bytes: 4096\n"
      "cancelled_write_bytes: 5\n";
  EXPECT_EQ(parse_disk_usage(text).value(), (DiskUsage{8192, 4096}));
  for (const char* bad : {"", "read_bytes: 1\n", "write_bytes: 1\n",
                          "read_bytes: x\nwrite_bytes: 1\n", "read_bytes: 1\nwrite_bytes: -1\n"}) {
    const auto parsed = parse_disk_usage(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, Errc::corrupt);
  }
}

}  // namespace
}  // namespace holdfast::proc
