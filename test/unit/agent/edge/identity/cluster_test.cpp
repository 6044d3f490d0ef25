// Where the cluster is and whom to believe: good settings, bad settings, a pinned authority.

#include "agent/edge/identity/cluster.h"

#include <fstream>

#include "platform/text.h"
#include "platform/tls/signer.h"
#include "test/support/scratch_dir.h"

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
      {{"a", "b", "https://a:6443"}, R"("https://a:6443" comes twice)"},
      {{"a", "http://b"}, R"("http://b": either all servers speak TLS or none)"},
  };
  for (const auto& [texts, what] : bad) {
    const auto parsed = parse_servers(texts);
    ASSERT_FALSE(parsed) << what;
    EXPECT_EQ(parsed.error().code, Errc::invalid);
    EXPECT_EQ(parsed.error().what, what);
  }
  EXPECT_EQ(parse_servers({})->servers.size(), 0u);
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
  const WallTime now = SystemClock().wall();
  const std::string ours = tls::Signer::make_authority("ours", now, now + 1h).certificate_pem;
  const std::string theirs = tls::Signer::make_authority("theirs", now, now + 1h).certificate_pem;
  const std::string pin = "sha256:" + tls::read_certificate(ours)->public_key_sha256;
  EXPECT_EQ(pinned_authority(info(ours), pin).value(), ours);
  EXPECT_EQ(pinned_authority(info(ours + theirs), pin).value(), ours) << "nothing comes with it";
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

TEST(Cluster, SettingsThatContradictEachOtherAreNamed) {
  const IdentityOptions joined{
      .servers = {"https://a:1", "b"}, .join_token = "t", .ca_hash = "sha256:" + digits};
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
  const Case cases[] = {
      {{}, "--kubeconfig, --bootstrap-kubeconfig or --join-token is required"},
      {{.kubeconfig = "k", .join_token = "t"}, "--kubeconfig, --bootstrap-kubeconfig and"},
      {{.servers = {"a/b"}, .kubeconfig = "k"}, "--server: \"a/b\" is not https://host:port"},
      {{.bootstrap_kubeconfig = "k", .ca_file = "f"}, "--ca-file goes with --join-token only"},
      {no_server, "--join-token needs --server"},
      {bad_server, "--server: --join-token is for https:// only"},
      {same_server, "--server: \"a\" comes twice"},
      {no_trust, "--join-token needs one of --ca-file and"},
      {twice, "--join-token needs one of --ca-file and"},
      {bad_hash, "--discovery-token-ca-cert-hash: "},
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
  const WallTime now = SystemClock().wall();
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
  options.kubeconfig = (dir.path() / "config").string();
  std::ofstream(options.kubeconfig)
      << "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: {server: \"https://old:1/prefix\"}}]\n"
         "users: [{name: u, user: {token: secret}}]\n";
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
