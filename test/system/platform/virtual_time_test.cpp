// Virtual time forbids sockets of the kernel only as long as it lasts.

#include "test/support/virtual_time.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::test {
namespace {

TEST(VirtualTimeDeathTest, ForbidsSocketsUntilItEnds) {
  EXPECT_DEATH(
      {
        const VirtualTime time;
        (void)::socket(AF_UNIX, SOCK_STREAM, 0);
      },
      "opens a socket");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_GE(socket, 0);
  EXPECT_EQ(close(socket), 0);
}

}  // namespace
}  // namespace holdfast::test
