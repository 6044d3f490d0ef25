#include "platform/proc/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "platform/check.h"
#include "platform/fs/descriptor.h"
#include "test/support/scratch_dir.h"

namespace holdfast::proc {
namespace {

using namespace std::chrono_literals;

using Variables = std::map<std::string, std::string>;

Environment environment(Variables variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// The service manager's end of the socket.
class Manager {
 public:
  explicit Manager(const std::string& name)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    CHECK(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
  }

  // The next datagram; "" if there is none.
  std::string next() {
    std::array<char, 256> buffer{};
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return count < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(count));
  }

 private:
  Descriptor socket_;
};

TEST(Notifier, SpeaksToPathAndAbstractSockets) {
  const test::ScratchDir dir;
  const std::string path = (dir.path() / "notify").string();
  const std::string abstract = "@holdfast-test-" + std::to_string(::getpid());
  for (const std::string& name : {path, abstract}) {
    SCOPED_TRACE(name);
    Manager manager(name);
    const auto notifier = Notifier::from(environment({{"NOTIFY_SOCKET", name}}));
    ASSERT_TRUE(notifier);
    EXPECT_TRUE(notifier->ready());
    EXPECT_TRUE(notifier->watchdog());
    EXPECT_TRUE(notifier->status("two\nlines"));
    EXPECT_TRUE(notifier->stopping());
    EXPECT_EQ(manager.next(), "READY=1");
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
    EXPECT_EQ(manager.next(), "STATUS=two lines");
    EXPECT_EQ(manager.next(), "STOPPING=1");
    EXPECT_EQ(manager.next(), "");
  }
}

TEST(Notifier, IsSilentWithoutAManager) {
  const auto notifier = Notifier::from(environment({}));
  ASSERT_TRUE(notifier);
  EXPECT_TRUE(notifier->ready());
  EXPECT_EQ(notifier->watchdog_interval(), std::nullopt);
}

TEST(Notifier, AManagerThatIsGoneIsAnError) {
  const auto notifier = Notifier::from(environment({{"NOTIFY_SOCKET", "/nowhere/notify"}}));
  ASSERT_TRUE(notifier);
  EXPECT_EQ(notifier->ready().error().code, Errc::not_found);
}

TEST(Notifier, RefusesWhatIsNoSocket) {
  for (const std::string& name :
       {std::string("relative"), std::string("vsock:2:1234"), "/" + std::string(108, 'x')}) {
    const auto notifier = Notifier::from(environment({{"NOTIFY_SOCKET", name}}));
    ASSERT_FALSE(notifier) << name;
    EXPECT_EQ(notifier.error().code, Errc::invalid);
  }
}

TEST(Notifier, WatchdogInterval) {
  const std::string self = std::to_string(::getpid());
  const struct {
    Variables variables;
    std::optional<Duration> expect;
  } rows[] = {
      {{}, {}},
      {{{"WATCHDOG_USEC", "3000000"}}, 3s},
      {{{"WATCHDOG_USEC", "3000000"}, {"WATCHDOG_PID", self}}, 3s},
      {{{"WATCHDOG_USEC", "3000000"}, {"WATCHDOG_PID", "1"}}, {}},
      {{{"WATCHDOG_USEC", "0"}}, {}},
      {{{"WATCHDOG_USEC", "-1"}}, {}},
      {{{"WATCHDOG_USEC", "soon"}}, {}},
      {{{"WATCHDOG_USEC", "9223372036854775807"}}, {}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Notifier::from(environment(row.variables))->watchdog_interval(), row.expect);
  }
}

}  // namespace
}  // namespace holdfast::proc
