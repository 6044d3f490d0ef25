// Every field of a kubeconfig (version v1): it is honoured, refused by name, or means nothing.

#include "agent/client/kubeconfig_fields.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "agent/client/credential_plugin.h"
#include "agent/client/kubeconfig.h"
#include "platform/text.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

// The fields of clientcmd's type Config, version v1, as Kubernetes 1.32 has them.
const std::map<std::string, std::set<std::string>> known_upstream = {
    {"",
     {"kind", "apiVersion", "preferences", "clusters", "users", "contexts", "current-context",
      "extensions"}},
    {"cluster",
     {"server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority",
      "certificate-authority-data", "proxy-url", "disable-compression", "extensions"}},
    {"context", {"cluster", "user", "namespace", "extensions"}},
    {"user",
     {"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token",
      "tokenFile", "as", "as-uid", "as-groups", "as-user-extra", "username", "password",
      "auth-provider", "exec", "extensions"}},
    {"exec",
     {"command", "args", "env", "apiVersion", "installHint", "provideClusterInfo",
      "interactiveMode"}},
    {"env", {"name", "value"}},
};

// A kubeconfig with more members in each section: ", NAME: VALUE".
class KubeconfigFields : public testing::Test {
 protected:
  Result<ClusterAccess> read(const std::string& section, const std::string& more) const {
    const auto in = [&](const char* name) { return section == name ? more : std::string(); };
    const bool plugin = section == "exec" || section == "env";
    const std::string exec =
        ", exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "
        "c, env: [{name: N, value: v" +
        in("env") + "}]" + in("exec") + "}";
    std::ofstream(file) << "{current-context: x, contexts: [{name: x, context: {cluster: c, "
                           "user: u"
                        << in("context") << "}}], clusters: [{name: c, cluster: {server: "
                        << "'https://h'" << in("cluster") << "}}], users: [{name: u, user: {a: b"
                        << (plugin ? exec : in("user")) << "}}]" << in("") << "}";
    return read_kubeconfig(file);
  }

  const test::ScratchDir scratch;
  const std::string file = scratch.path() / "config";
};

TEST_F(KubeconfigFields, AllOfUpstreamAreInTheTable) {
  std::map<std::string, std::set<std::string>> ours;
  for (const KubeconfigField& each : kubeconfig_fields()) {
    EXPECT_TRUE(ours[std::string(each.section)].insert(std::string(each.name)).second);
    EXPECT_EQ(each.use == FieldUse::refused, !each.why.empty()) << each.name;
  }
  EXPECT_EQ(ours, known_upstream);
}

TEST_F(KubeconfigFields, WhatIsNotSupportedIsRefusedByName) {
  int refused = 0;
  for (const KubeconfigField& each : kubeconfig_fields()) {
    if (each.use != FieldUse::refused) continue;
    ++refused;
    const std::string name(each.name);
    const std::string where(each.section);
    for (const char* value : {"secret", "[secret]", "{secret: secret}"}) {
      const auto access = read(where, ", " + name + ": " + value);
      ASSERT_FALSE(access) << name;
      EXPECT_EQ(access.error().code, Errc::invalid);
      EXPECT_EQ(access.error().what,
                file + ": " + where + ": " + name + " is not supported: " + std::string(each.why));
    }
    for (const char* value : {"''", "[]", "{}", "null", ""}) {
      EXPECT_TRUE(read(where, ", " + name + ": " + value)) << name << ": " << value;
    }
  }
  EXPECT_EQ(refused, 7);
}

TEST_F(KubeconfigFields, TheFormOfEachFieldIsChecked) {
  for (const KubeconfigField& each : kubeconfig_fields()) {
    const std::string shown =
        (each.section.empty() ? "" : std::string(each.section) + ": ") + std::string(each.name);
    const bool is_flag = each.use == FieldUse::flag;
    if (!is_flag && each.use != FieldUse::text) continue;
    const auto list = read(std::string(each.section), ", " + std::string(each.name) + ": [a]");
    // Where the field is there already, the first one counts.
    if (!list) {
      EXPECT_EQ(list.error().what, file + ": " + shown + " is not a scalar");
    }
    if (!is_flag) continue;
    const auto wrong = read(std::string(each.section), ", " + std::string(each.name) + ": maybe");
    ASSERT_FALSE(wrong) << shown;
    EXPECT_EQ(wrong.error().what, file + ": " + shown + " is not a boolean");
  }
  EXPECT_EQ(read("user", ", token: [a]").error().what, file + ": user: token is not a scalar");
  for (const char* yes : {"true", "True", "'true'", "yes", "on"}) {
    const auto access = read("cluster", std::string(", insecure-skip-tls-verify: ") + yes +
                                            ", disable-compression: " + yes);
    ASSERT_TRUE(access);
    EXPECT_TRUE(access->tls_settings.insecure) << yes;
    EXPECT_TRUE(access->disable_compression) << yes;
  }
  EXPECT_FALSE(read("cluster", ", insecure-skip-tls-verify: false")->tls_settings.insecure);
}

TEST_F(KubeconfigFields, WhatMeansNothingIsIgnoredAndWhatIsUnknownIsReported) {
  EXPECT_EQ(read("cluster", "")->unknown_fields, std::vector<std::string>{file + ": user: a"});
  EXPECT_EQ(read("cluster", ", extensions: [{name: minikube}], proxyUrl: x")->unknown_fields[0],
            file + ": cluster: proxyUrl");
  EXPECT_EQ(read("", ", preferences: {colors: true}, extensions: [a]")->unknown_fields.size(), 1u);
  EXPECT_EQ(read("context", R"(, "a\e[2J": x)")->unknown_fields[0],
            file + R"(: context: a\x1b[2J)");
  std::string many;
  for (int i = 0; i < 100; ++i) many += ", x" + std::to_string(i) + ": y";
  EXPECT_EQ(read("cluster", many)->unknown_fields.size(), 8u);
  EXPECT_EQ(read("", ", apiVersion: v2").error().what, file + ": apiVersion is not v1");
  EXPECT_EQ(read("", ", kind: Pod").error().what, file + ": kind is not Config");
}

TEST_F(KubeconfigFields, APluginIsConfiguredOrRefused) {
  const auto access = read("exec",
                           ", args: [a, 'b c', ''], installHint: get it, provideClusterInfo: true, "
                           "interactiveMode: IfAvailable");
  ASSERT_TRUE(access) << access.error().what;
  ASSERT_TRUE(access->plugin);
  const ExecConfig& config = access->plugin->config();
  EXPECT_EQ(config.command, "c");
  EXPECT_EQ(config.args, (std::vector<std::string>{"a", "b c", ""}));
  EXPECT_EQ(config.env, std::vector<std::string>{"N=v"});
  EXPECT_EQ(config.install_hint, "get it");
  EXPECT_EQ(config.info,
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
            R"("spec":{"cluster":{"server":"https://h"},"interactive":false}})");
  EXPECT_TRUE(read("exec", "")->has_same_plugin(*read("exec", "")));
  EXPECT_FALSE(access->has_same_plugin(*read("exec", "")));
  EXPECT_FALSE(access->has_same_plugin(*read("user", "")));
  EXPECT_TRUE(read("user", "")->has_same_plugin(*read("user", "")));

  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  const std::pair<std::string, std::string> rows[] = {
      {"{command: c}", "exec: apiVersion is neither client.authentication.k8s.io/v1 nor /v1beta1"},
      {"{apiVersion: client.authentication.k8s.io/v1alpha1, command: c}",
       "exec: apiVersion is neither client.authentication.k8s.io/v1 nor /v1beta1"},
      {"{" + v1 + "command: ''}", "exec: command is empty"},
      {"{" + v1 + "command: c}", "exec: interactiveMode is neither Never nor IfAvailable"},
      {"{" + v1 + "command: c, interactiveMode: Always}",
       "exec: interactiveMode is Always, but there is no terminal"},
      {"{" + v1 + "command: c, interactiveMode: Never, env: [{value: v}]}",
       "exec: the name of a variable is empty or contains \"=\""},
      {"{" + v1 + "command: c, interactiveMode: Never, env: [{name: 'A=B', value: v}]}",
       "exec: the name of a variable is empty or contains \"=\""},
      {"{" + v1 + "command: c, interactiveMode: Never, args: [[a]]}",
       "exec: an argument is not a string"},
      {"{" + v1 + R"(command: "c\0", interactiveMode: Never})",
       "exec: NUL in the command, an argument or a variable"},
      {"{" + v1 + "command: c, interactiveMode: Never}, token: t",
       "user: exec excludes tokens and client certificates"},
      {"[a]", "exec: not a map"},
  };
  for (const auto& [exec, why] : rows) {
    const auto refused = read("user", ", exec: " + exec);
    ASSERT_FALSE(refused) << exec;
    EXPECT_EQ(refused.error().what, file + ": " + why);
  }
  const auto beside = read("user", ", exec: {" + v1 + "command: bin/c, interactiveMode: Never}");
  EXPECT_EQ(beside->plugin->config().command, (scratch.path() / "bin/c").string());
  const auto absolute = read("user", ", exec: {" + v1 + "command: /c, interactiveMode: Never}");
  EXPECT_EQ(absolute->plugin->config().command, "/c");
}

// A plug-in that is told about the cluster would have to get the extension, too.
TEST_F(KubeconfigFields, ThePluginsExtensionIsRefusedIfThePluginAsksForTheCluster) {
  for (const bool asks : {false, true}) {
    SCOPED_TRACE(asks);
    std::ofstream(file)
        << "{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}], clusters: "
           "[{name: c, cluster: {server: 'https://h', extensions: [{name: other}, {name: "
           "client.authentication.k8s.io/exec, extension: {a: b}}]}}], users: [{name: u, user: "
           "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: c, "
           "provideClusterInfo: "
        << (asks ? "true" : "false") << "}}}]}";
    const auto access = read_kubeconfig(file);
    ASSERT_EQ(access.has_value(), !asks);
    if (access) continue;
    EXPECT_EQ(access.error().what, file +
                                       ": cluster: the extension client.authentication.k8s.io/exec "
                                       "is not supported");
  }
}

}  // namespace
}  // namespace holdfast::agent
