// The kubeconfigs with which nodes reach a cluster that others use, too.

#include "agent/lab/guest/host.h"

#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::lab::guest {
namespace {

Host host_at(const std::string& server, const std::string& user, const std::string& cluster = {}) {
  const test::ScratchDir scratch;
  const std::string file = (scratch.path() / "config").string();
  const std::string text =
      "current-context: x\nclusters:\n- name: c\n  cluster: {server: " + server + cluster +
      "}\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n" +
      "users:\n- name: u\n  user: {" + user + "}\n";
  EXPECT_TRUE(fs::atomic_write(file, text));
  auto host = read_host(file);
  EXPECT_TRUE(host) << host.error().what;
  return *std::move(host);
}

TEST(LabGuestHost, IsReachedThroughTheLinkUnderItsOwnName) {
  const tls::Identity identity{.certificate_pem = "C", .key_pem = "K"};
  const std::string head =
      "apiVersion: v1\nkind: Config\ncurrent-context: lab\nclusters:\n"
      "- name: lab\n  cluster:\n    server: ";
  const std::string middle =
      "contexts:\n- name: lab\n  context:\n    cluster: lab\n"
      "    user: lab\nusers:\n- name: lab\n  user:";
  const std::string certificate =
      "\n    client-certificate-data: Qw==\n    client-key-data: Sw==\n";
  EXPECT_EQ(kubeconfig_through(host_at("https://api.example.org:6443/clusters/a", "token: t"), 77,
                               identity),
            head + "https://127.0.0.1:77/clusters/a\n    tls-server-name: api.example.org\n" +
                middle + certificate);
  EXPECT_EQ(kubeconfig_through(host_at("https://10.0.0.1", "token: t",
                                       ", tls-server-name: api, certificate-authority-data: Q0E="),
                               77, identity),
            head + "https://127.0.0.1:77\n    tls-server-name: api\n" +
                "    certificate-authority-data: Q0E=\n" + middle + certificate);
  EXPECT_EQ(kubeconfig_through(
                host_at("https://10.0.0.1", "token: t", ", insecure-skip-tls-verify: true"), 77,
                identity),
            head + "https://127.0.0.1:77\n    tls-server-name: 10.0.0.1\n" +
                "    insecure-skip-tls-verify: true\n" + middle + certificate);
  EXPECT_EQ(kubeconfig_through(host_at("http://127.0.0.1:7443", "token: t"), 77, {}),
            head + "http://127.0.0.1:77\n" + middle + "\n    token: t\n");
  EXPECT_EQ(kubeconfig_through(host_at("http://127.0.0.1:7443", ""), 77, {}),
            head + "http://127.0.0.1:77\n" + middle + " {}\n");
}

TEST(LabGuestHost, NeedsCredentialsForTls) {
  const test::ScratchDir scratch;
  const std::string file = (scratch.path() / "config").string();
  ASSERT_TRUE(fs::atomic_write(
      file,
      "current-context: x\nclusters:\n- name: c\n  cluster: {server: \"https://10.0.0.1:6443\"}\n"
      "contexts:\n- name: x\n  context: {cluster: c}\n"));
  const auto host = read_host(file);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().what, "--kubeconfig: " + file +
                                   ": its context has no user with a token or a client "
                                   "certificate, which https://10.0.0.1:6443 requires");
}

}  // namespace
}  // namespace holdfast::agent::lab::guest
