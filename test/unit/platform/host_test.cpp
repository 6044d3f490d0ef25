#include "platform/http/host.h"

namespace holdfast::http {
namespace {

TEST(Host, APlainListenerIsAddressedByItsOwnName) {
  struct Case {
    const char* local;
    const char* host;
    bool good;
  };
  const Case cases[] = {
      {"127.0.0.1", "127.0.0.1:10261", true},
      {"127.0.0.1", "127.0.0.1", true},
      {"127.0.0.1", "localhost:10261", true},
      {"127.0.0.1", "LOCALHOST", true},
      {"127.0.0.1", "edge-a:10261", true},
      {"::1", "[::1]:10261", true},
      {"::1", "[::1]", true},
      {"::1", "localhost:10261", true},
      {"10.0.0.7", "10.0.0.7:10261", true},
      {"10.0.0.7", "localhost:10261", false},
      {"127.0.0.1", "127.0.0.1:80", false},
      {"127.0.0.1", "127.0.0.2:10261", false},
      {"127.0.0.1", "evil.example:10261", false},
      {"127.0.0.1", "localhost.evil.example:10261", false},
      {"127.0.0.1", "127.0.0.1:10261.evil.example", false},
      {"127.0.0.1", "127.0.0.1:", false},
      {"127.0.0.1", "", false},
      {"", "127.0.0.1:10261", false},
  };
  for (const Case& c : cases) {
    Request asked{.target = "/", .headers = {{"Host", c.host}}};
    asked.peer.local_address = c.local;
    asked.peer.local_port = 10261;
    EXPECT_EQ(check_host(asked, {"edge-a"}).has_value(), c.good) << c.local << " " << c.host;
  }
}

TEST(Host, ALongNameIsCutOff) {
  Request request{.method = Method::get, .target = "/"};
  request.headers.set("Host", std::string(30'000, 'h'));
  const Status refused = check_host(request, {});
  ASSERT_FALSE(refused);
  EXPECT_LE(refused.error().what.size(), 300u);
}

}  // namespace
}  // namespace holdfast::http
