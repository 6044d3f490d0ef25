#include "agent/lab/apiserver/serve.h"

namespace holdfast::agent::lab {
namespace {

TEST(Serve, OtherMachinesAreServedOnlyIfCallersAreKnown) {
  const struct {
    const char* host;
    bool loopback;
  } rows[] = {{"127.0.0.1", true}, {"127.5.0.1", true},   {"::1", true},
              {"localhost", true}, {"0.0.0.0", false},    {"::", false},
              {"10.0.0.1", false}, {"lab.example", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.host);
    EXPECT_TRUE(check_listener({row.host, 7443}, {.token_file = "t"}));
    EXPECT_TRUE(check_listener({row.host, 7443}, {.tls_dir = "d"}));
    const Status alone = check_listener({row.host, 7443}, {});
    EXPECT_EQ(alone.has_value(), row.loopback);
    if (row.loopback) continue;
    EXPECT_EQ(alone.error().code, Errc::invalid);
    for (const char* flag : {"--listen", "--token-file", "--tls-dir"})
      EXPECT_NE(alone.error().what.find(flag), std::string::npos) << flag;
  }
}

TEST(Serve, RolesNeedKnownCallers) {
  const net::HostPort here{"127.0.0.1", 7443};
  EXPECT_TRUE(check_listener(here, {.token_file = "t", .rbac = true}));
  EXPECT_TRUE(check_listener(here, {.tls_dir = "d", .rbac = true}));
  const Status alone = check_listener(here, {.rbac = true});
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().what.find("--rbac"), std::string::npos);
}

// The settings from a command line, or the error.
Result<ServeSettings> settings_of(const std::vector<const char*>& words) {
  ServeSettings settings;
  config::Options options("lab", "");
  add_serve_options(options, settings);
  std::vector<const char*> argv{"lab"};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto parsed = options.parse(static_cast<int>(argv.size()), argv.data());
  if (!parsed) return fail(parsed.error());
  return settings;
}

TEST(Serve, ListensOnPort7443OfLoopbackByDefault) {
  const auto settings = settings_of({});
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->listen, "127.0.0.1:7443");
}

TEST(Serve, NodesHaveARealNodesRightsUnlessTheFlagSaysOtherwise) {
  const struct {
    std::vector<const char*> words;
    bool on;
  } rows[] = {{{}, true},
              {{"--node-authorizer"}, true},
              {{"--node-authorizer=true"}, true},
              {{"--node-authorizer=false"}, false}};
  for (const auto& row : rows) {
    const auto settings = settings_of(row.words);
    ASSERT_TRUE(settings) << settings.error().what;
    EXPECT_EQ(settings->node_authorizer, row.on) << (row.words.empty() ? "" : row.words.front());
  }
}

TEST(Serve, ABadValueOfTheNodeAuthorizersFlagIsNamed) {
  for (const char* word : {"--node-authorizer=", "--node-authorizer=Node", "--node-authorizer=1",
                           "--node-authorizer=TRUE", "--node-authorizers=true"}) {
    const auto settings = settings_of({word});
    ASSERT_FALSE(settings) << word;
    EXPECT_EQ(settings.error().code, Errc::invalid) << word;
    EXPECT_NE(settings.error().what.find("--node-authorizer"), std::string::npos)
        << settings.error().what;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
