// How the agent finds the cluster and its authority: valid and invalid settings, and a pinned
// authority.

#include "agent/edge/identity/cluster.h"

#include <fstream>

#include "platform/fs/file.h"
#include "platform/text.h"
#include "platform/tls/signer.h"
#include "test/support/fake_proxy.h"
#include "test/support/kubeconfig.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

const std::string digits(64, 'a');

TEST(Cluster, ServersAreReadInEveryUsualForm) {
  const std::pair<const char*, const char*> good[] = {
      {"https://10.0.0.1:6443", "tls 10.0.0.1:6443"},
      {"10.0.0.1:443", "tls 10.0.0.1:443"},
      {"https://api.example.org", "tls api.example.org:6443"},
      {"https://a/", "tls a:6443"},
      {"https://a/clusters/b/", "tls a:6443/clusters/b"},
      {"[2001:db8::1]", "tls [2001:db8::1]:6443"},
      {"https://[2001:db8::1]:1", "tls [2001:db8::1]:1"},
      {"http://a", "plain a:80"},
      {"http://a:8080", "plain a:8080"}};
  for (const auto& [text, server] : good) {
    const auto parsed = parse_servers({text});
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().what;
    ASSERT_EQ(parsed->servers.size(), 1u);
    const ServerAddress& read = parsed->servers.front();
    const std::string scheme = parsed->tls ? "tls " : "plain ";
    EXPECT_EQ(scheme + read.at.text() + read.path_prefix, server) << text;
  }
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{""}, R"("" is not https://host:port)"},
      {{"https://"}, R"("https://" is not https://host:port)"},
      {{"ftp://a"}, R"("ftp://a" is not https://host:port)"},
      {{"a/b"}, R"("a/b" is not https://host:port)"},
      {{"a:b"}, R"("a:b" is not https://host:port)"},
      {{"b", "a:70000"}, R"("a:70000" is not https://host:port)"},
      {{"a", "b", "https://a:6443"}, R"("https://a:6443" is given twice)"},
      {{"a", "http://b"}, R"("http://b": either all servers use TLS or none)"},
  };
  for (const auto& [texts, what] : bad) {
    const auto parsed = parse_servers(texts);
    ASSERT_FALSE(parsed) << what;
    EXPECT_EQ(parsed.error().code, Errc::invalid);
    EXPECT_EQ(parsed.error().what, what);
  }
  EXPECT_EQ(parse_servers({})->servers.size(), 0u);
}

TEST(Cluster, TheAuthorityIsFetchedThroughTheProxyOfTheEnvironment) {
  test::VirtualTime time;
  test::FakeProxy proxy(time.executor(), {});
  const std::string url = "127.0.0.1:" + std::to_string(proxy.port());
  IdentityOptions options{.servers = {"10.0.0.9:6443", "127.0.0.1:6443"},
                          .join_token = "abcdef.secret"};
  options.ca_hash = "sha256:" + digits;
  options.proxies = proxy::Rules::from([&url](std::string_view name) {
    return name == "HTTPS_PROXY" ? std::optional(url) : std::nullopt;
  });
  std::string said;
  const auto learn = [&](std::size_t server) -> asio::awaitable<void> {
    const MonoTime deadline = time.clock().mono() + 5s;
    const auto learnt = co_await learn_authority(options, time.clock(), deadline, server);
    said = learnt ? *learnt : learnt.error().what;
  };
  time.complete(learn(0));
  EXPECT_EQ(proxy.asked, std::vector<std::string>{"10.0.0.9:6443"});
  EXPECT_NE(said.find("through proxy http://" + url +
                      ": CONNECT 10.0.0.9:6443: refused with "
                      "status 502"),
            std::string::npos)
      << said;
  time.complete(learn(1));
  EXPECT_EQ(proxy.asked.size(), 1u) << "loopback is reached directly";
  EXPECT_EQ(read_access(options)->environment, options.proxies);
  proxy.stop();
  time.settle();
}

TEST(Cluster, HashesAreReadAsKubeadmWritesThem) {
  EXPECT_EQ(parse_ca_hash("sha256:" + digits).value(), digits);
  EXPECT_EQ(parse_ca_hash("sha256:" + std::string(64, 'A')).value(), digits);
  for (const std::string& text : {std::string(), digits, "sha512:" + digits, std::string("sha256:"),
                                  "sha256:" + digits + "a", "sha256:" + std::string(64, 'g')}) {
    EXPECT_FALSE(parse_ca_hash(text)) << text;
  }
}

std::string info(const std::string& ca) {
  return R"({"data":{"kubeconfig":"clusters:\n- cluster:\n    certificate-authority-data: )" +
         base64_encode(ca) + R"(\n"}})";
}

TEST(Cluster, OnlyThePinnedAuthorityIsBelieved) {
  const WallTime now = test::VirtualClock().wall();
  const std::string ours = tls::Signer::make_authority("ours", now, now + 1h).certificate_pem;
  const std::string theirs = tls::Signer::make_authority("theirs", now, now + 1h).certificate_pem;
  const std::string pin = "sha256:" + tls::read_certificate(ours)->public_key_sha256;
  EXPECT_EQ(pinned_authority(info(ours), pin).value(), ours);
  EXPECT_EQ(pinned_authority(info(ours + theirs), pin).value(), ours)
      << "other certificates are ignored";
  const auto other = pinned_authority(info(theirs), pin);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::denied);
  EXPECT_EQ(pinned_authority(info(theirs + ours), pin).error().code, Errc::denied);
  for (const std::string& document :
       {std::string(), std::string("{}"), std::string(R"({"data":{}})"),
        std::string(R"({"data":{"kubeconfig":"clusters: ["}})"),
        std::string(R"({"data":{"kubeconfig":"clusters: []"}})"),
        std::string(R"({"data":{"kubeconfig":"x"}})"), info("nonsense"), info("")}) {
    const auto read = pinned_authority(document, pin);
    ASSERT_FALSE(read) << document;
    EXPECT_EQ(read.error().code, Errc::invalid) << document;
  }
}

std::string signed_info(const std::string& key, const std::string& signature) {
  return R"({"data":{"kubeconfig":"apiVersion: v1\nkind: Config\n",")" + key + R"(":")" +
         signature + R"("}})";
}

// Another implementation made the signature: see test/unit/platform/tls/jws_test.cpp.
TEST(Cluster, OnlyADocumentThatIsSignedWithTheTokenIsBelieved) {
  const JoinToken token = parse_join_token("07401b.f395accd246ae52d").value();
  const std::string key = "jws-kubeconfig-07401b";
  const std::string header = "eyJhbGciOiJIUzI1NiIsImtpZCI6IjA3NDAxYiJ9";
  const std::string good = header + "..V7vfbveur77TnlLQz-hsORPxM3IuWz8GI4hOaPAzkdk";
  EXPECT_TRUE(check_signature(signed_info(key, good), token));
  const struct {
    std::string name;
    std::string document;
    Errc code;
  } rows[] = {
      {"none", R"({"data":{"kubeconfig":"k"}})", Errc::denied},
      {"empty", signed_info(key, ""), Errc::denied},
      {"of another token", signed_info("jws-kubeconfig-abcdef", good), Errc::denied},
      {"cut", signed_info(key, good.substr(0, good.size() - 1)), Errc::denied},
      {"changed", signed_info(key, good.substr(0, good.size() - 1) + "A"), Errc::denied},
      {"unsigned algorithm", signed_info(key, "eyJhbGciOiJub25lIn0.."), Errc::denied},
      {"another document",
       R"({"data":{"kubeconfig":"apiVersion: v1\nkind: Evil\n",")" + key + R"(":")" + good +
           R"("}})",
       Errc::denied},
      {"nothing signed", R"({"data":{}})", Errc::invalid},
      {"no document", "x", Errc::invalid},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const Status checked = check_signature(row.document, token);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, row.code) << checked.error().what;
    EXPECT_EQ(checked.error().what.find(token.secret), std::string::npos);
  }
  const JoinToken other = parse_join_token("07401b.0000000000000000").value();
  EXPECT_EQ(check_signature(signed_info(key, good), other).error().code, Errc::denied);
}

TEST(Cluster, JoinTokens) {
  for (const char* bad : {"", "secret", ".secret", "id.", "a.b.c", "ID.SECRET", "id.se\"cret"}) {
    const auto parsed = parse_join_token(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, Errc::invalid);
    EXPECT_EQ(parsed.error().what.find("secret"), std::string::npos);
  }
}

TEST(Cluster, AJoinTokenComesFromAFileThatNobodyElseReads) {
  const test::ScratchDir dir;
  IdentityOptions options{.servers = {"a:1"}};
  options.join_token_file = (dir.path() / "token").string();
  options.ca_hash = "sha256:" + digits;
  EXPECT_TRUE(check(options));
  EXPECT_EQ(join_token(options).error().code, Errc::not_found);
  ASSERT_TRUE(fs::atomic_write(options.join_token_file, "abcdef.secret\n"));
  EXPECT_EQ(join_token(options).value(), "abcdef.secret");
  EXPECT_EQ(read_access(options)->token, "abcdef.secret");
  ASSERT_TRUE(fs::atomic_write(options.join_token_file, "abcdef.secret\n", 0644));
  const auto open = read_access(options);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, Errc::denied);
  EXPECT_TRUE(open.error().what.starts_with("--join-token-file: " + options.join_token_file));
  EXPECT_EQ(open.error().what.find("abcdef"), std::string::npos);
  ASSERT_TRUE(fs::atomic_write(options.join_token_file, "\n"));
  EXPECT_EQ(join_token(options).error().code, Errc::invalid);
}

TEST(Cluster, SettingsThatContradictEachOtherAreNamed) {
  const IdentityOptions joined{.servers = {"https://a:1", "b"},
                               .join_token = "abcdef.secret",
                               .ca_hash = "sha256:" + digits};
  EXPECT_TRUE(check(joined));
  EXPECT_TRUE(check({.kubeconfig = "k"}));
  EXPECT_TRUE(check({.servers = {"a", "b"}, .kubeconfig = "k"}));
  EXPECT_TRUE(check({.bootstrap_kubeconfig = "k", .secure_listen = ""}));
  struct Case {
    IdentityOptions options;
    const char* what;
  };
  IdentityOptions no_server = joined;
  no_server.servers = {};
  IdentityOptions bad_server = joined;
  bad_server.servers = {"http://a"};
  IdentityOptions same_server = joined;
  same_server.servers = {"a", "a"};
  IdentityOptions no_trust = joined;
  no_trust.ca_hash = "";
  IdentityOptions bad_hash = joined;
  bad_hash.ca_hash = "sha256:1";
  IdentityOptions twice = joined;
  twice.ca_file = "f";
  IdentityOptions two_tokens = joined;
  two_tokens.join_token_file = "f";
  IdentityOptions bad_token = joined;
  bad_token.join_token = "secret";
  const Case cases[] = {
      {{}, "--kubeconfig, --bootstrap-kubeconfig or --join-token-file is required"},
      {{.kubeconfig = "k", .join_token = "t"}, "--kubeconfig, --bootstrap-kubeconfig and"},
      {{.servers = {"a/b"}, .kubeconfig = "k"}, "--server: \"a/b\" is not https://host:port"},
      {{.bootstrap_kubeconfig = "k", .ca_file = "f"}, "--ca-file needs --join-token-file"},
      {no_server, "--join-token-file needs --server"},
      {bad_server, "--server: --join-token-file needs https:// servers"},
      {same_server, "--server: \"a\" is given twice"},
      {no_trust, "--join-token-file needs one of --ca-file and"},
      {twice, "--join-token-file needs one of --ca-file and"},
      {bad_hash, "--discovery-token-ca-cert-hash: "},
      {two_tokens, "--join-token and --join-token-file exclude each other"},
      {bad_token, "--join-token: the join token is not ID.SECRET"},
      {{.kubeconfig = "k", .secure_listen = "nowhere"}, "--secure-listen: "},
  };
  for (const Case& c : cases) {
    const Status checked = check(c.options);
    ASSERT_FALSE(checked) << c.what;
    EXPECT_EQ(checked.error().code, Errc::invalid);
    EXPECT_TRUE(checked.error().what.starts_with(c.what)) << checked.error().what;
  }
}

TEST(Cluster, AJoinTokenIsAccessWithoutAFile) {
  const test::ScratchDir dir;
  IdentityOptions options{.servers = {"a:1", "b:2"}, .join_token = "t"};
  options.ca_file = (dir.path() / "ca.crt").string();
  EXPECT_EQ(read_access(options).error().code, Errc::not_found);
  std::ofstream(options.ca_file) << "nonsense";
  const auto bad = read_access(options);
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().what.starts_with("--ca-file: " + options.ca_file)) << bad.error().what;
  const WallTime now = test::VirtualClock().wall();
  const std::string ca = tls::Signer::make_authority("ca", now, now + 1h).certificate_pem;
  std::ofstream(options.ca_file) << ca;
  const ClusterAccess access = read_access(options).value();
  EXPECT_TRUE(access.tls);
  EXPECT_EQ(access.server.text(), "a:1");
  ASSERT_EQ(access.servers().size(), 2u);
  EXPECT_EQ(access.servers()[1].at.text(), "b:2");
  EXPECT_EQ(access.token, "t");
  EXPECT_EQ(access.tls_settings.ca_pem, ca);
}

TEST(Cluster, ServersTakeTheKubeconfigsPlaceAndItsCredentialsStay) {
  const test::ScratchDir dir;
  IdentityOptions options;
  options.kubeconfig =
      test::write_kubeconfig(dir.path() / "config", "https://old:1/prefix", "", "token: secret");
  ClusterAccess access = read_access(options).value();
  EXPECT_EQ(access.servers(), (std::vector<ServerAddress>{{{"old", 1}, "/prefix"}}));
  options.servers = {"https://new:2", "newer"};
  access = read_access(options).value();
  EXPECT_EQ(access.servers(), (std::vector<ServerAddress>{{{"new", 2}}, {{"newer", 6443}}}));
  EXPECT_EQ(access.token, "secret");
  EXPECT_TRUE(access.tls);
}

}  // namespace
}  // namespace holdfast::agent
