#include "agent/lab/apiserver/serve.h"

namespace holdfast::agent::lab {
namespace {

TEST(Serve, WithoutTokensOnlyThisMachineIsServed) {
  const struct {
    const char* host;
    bool loopback;
  } rows[] = {{"127.0.0.1", true}, {"127.5.0.1", true},   {"::1", true},
              {"localhost", true}, {"0.0.0.0", false},    {"::", false},
              {"10.0.0.1", false}, {"lab.example", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.host);
    EXPECT_TRUE(check_listener({row.host, 7443}, true));
    const Status alone = check_listener({row.host, 7443}, false);
    EXPECT_EQ(alone.has_value(), row.loopback);
    if (row.loopback) continue;
    EXPECT_EQ(alone.error().code, Errc::invalid);
    EXPECT_NE(alone.error().what.find("--token-file"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
