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
      {"https://10.0.0.1:6443", "10.0.0.1:6443"},
      {"10.0.0.1:443", "10.0.0.1:443"},
      {"https://api.example.org", "api.example.org:6443"},
      {"https://a/", "a:6443"},
      {"[2001:db8::1]", "[2001:db8::1]:6443"},
      {"https://[2001:db8::1]:1", "[2001:db8::1]:1"}};
  for (const auto& [text, server] : good) {
    const auto parsed = parse_server(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().what;
    EXPECT_EQ(parsed->text(), server) << text;
  }
  for (const char* text : {"", "https://", "http://a", "a/b", "a:b", "a:70000"}) {
    EXPECT_FALSE(parse_server(text)) << text;
  }
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
      .join_token = "t", .server = "https://a:1", .ca_hash = "sha256:" + digits};
  EXPECT_TRUE(check(joined));
  EXPECT_TRUE(check({.kubeconfig = "k"}));
  EXPECT_TRUE(check({.bootstrap_kubeconfig = "k", .secure_listen = ""}));
  struct Case {
    IdentityOptions options;
    const char* what;
  };
  IdentityOptions no_server = joined;
  no_server.server = "";
  IdentityOptions bad_server = joined;
  bad_server.server = "http://a";
  IdentityOptions no_trust = joined;
  no_trust.ca_hash = "";
  IdentityOptions bad_hash = joined;
  bad_hash.ca_hash = "sha256:1";
  IdentityOptions twice = joined;
  twice.ca_file = "f";
  const Case cases[] = {
      {{}, "--kubeconfig, --bootstrap-kubeconfig or --join-token is required"},
      {{.kubeconfig = "k", .join_token = "t"}, "--kubeconfig, --bootstrap-kubeconfig and"},
      {{.kubeconfig = "k", .server = "a"}, "--server goes with --join-token only"},
      {{.bootstrap_kubeconfig = "k", .ca_file = "f"}, "--ca-file goes with --join-token only"},
      {no_server, "--join-token needs --server"},
      {bad_server, "--server: "},
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
  IdentityOptions options{.join_token = "t", .server = "a:1"};
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
  EXPECT_EQ(access.token, "t");
  EXPECT_EQ(access.tls_settings.ca_pem, ca);
}

}  // namespace
}  // namespace holdfast::agent
