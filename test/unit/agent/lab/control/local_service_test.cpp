#include "agent/lab/control/local_service.h"

#include <unistd.h>

namespace holdfast::agent::lab {
namespace {

constexpr std::uint16_t control_port = 7444;

http::Request from_self(http::Headers headers) {
  http::Request request{.target = "/v1/nodes", .headers = std::move(headers)};
  request.peer.address = "127.0.0.1";
  request.peer.owner = net::SocketOwner{.uid = ::getuid(), .inode = 1};
  request.peer.local_address = "127.0.0.1";
  request.peer.local_port = control_port;
  return request;
}

TEST(LocalService, ServesItsUserByTheListenersName) {
  for (const char* host : {"127.0.0.1:7444", "localhost:7444", "[::1]:7444"}) {
    EXPECT_TRUE(admit_local(from_self({{"Host", host}}))) << host;
  }
}

TEST(LocalService, RefusesWebPagesAndOtherNames) {
  const http::Headers bad[] = {{},
                               {{"Host", "example.org:7444"}},
                               {{"Host", "127.0.0.1:80"}},
                               {{"Host", "10.0.0.1:7444"}},
                               {{"Host", "127.0.0.1:7444"}, {"Origin", "http://127.0.0.1:7444"}},
                               {{"Host", "127.0.0.1:7444"}, {"Sec-Fetch-Site", "cross-site"}}};
  for (const http::Headers& headers : bad) {
    const Status admitted = admit_local(from_self(headers));
    ASSERT_FALSE(admitted) << headers.get("Host");
    EXPECT_EQ(admitted.error().code, Errc::denied);
  }
}

TEST(LocalService, RefusesOtherUsers) {
  http::Request request = from_self({{"Host", "127.0.0.1:7444"}});
  request.peer.owner->uid = ::getuid() + 1;
  EXPECT_FALSE(admit_local(request));
  request.peer.owner.reset();
  EXPECT_FALSE(admit_local(request)) << "an unknown owner";
}

}  // namespace
}  // namespace holdfast::agent::lab
