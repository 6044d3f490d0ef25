#include "agent/client/kubeconfig.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "platform/text.h"
#include "test/support/captured_log.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

class Kubeconfig : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch.path() / name) << text;
  }
  [[nodiscard]] Result<ClusterAccess> read(const std::string& text,
                                           std::string_view context = {}) const {
    write("config", text);
    return read_kubeconfig(file, context);
  }

  const test::ScratchDir scratch;
  const std::string file = scratch.path() / "config";
};

std::string config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: one\n"
         "contexts:\n- name: one\n  context: {cluster: c, user: u, namespace: ns}\n"
         "- name: bare\n  context: {cluster: c}\n- name: lost\n  context: {cluster: gone}\n"
         "clusters:\n- name: c\n  cluster: " +
         cluster + "\nusers:\n- name: u\n  user: " + user + "\n";
}

TEST_F(Kubeconfig, FilesDataAndTokens) {
  write("ca.pem", "CA");
  write("tls.crt", "CERT");
  const auto access =
      read(config("{server: 'https://example.org/k8s/', certificate-authority: ca.pem, "
                  "tls-server-name: inner.example}",
                  "{token: t, tokenFile: token, client-certificate: tls.crt, "
                  "client-key-data: " +
                      base64_encode("KEY") + "}"));
  ASSERT_TRUE(access) << access.error().what;
  EXPECT_TRUE(access->tls);
  EXPECT_EQ(access->server, (net::HostPort{"example.org", 443}));
  EXPECT_EQ(access->path_prefix, "/k8s");
  EXPECT_EQ(access->namespace_name, "ns");
  EXPECT_EQ(access->tls_settings.ca_pem, "CA");
  EXPECT_EQ(access->tls_settings.identity.certificate_pem, "CERT");
  EXPECT_EQ(access->tls_settings.identity.key_pem, "KEY");
  EXPECT_EQ(access->tls_settings.server_name, "inner.example");
  EXPECT_FALSE(access->tls_settings.insecure);
  EXPECT_EQ(access->token, "t");
  EXPECT_EQ(access->token_file, scratch.path() / "token");
  EXPECT_EQ(access->endpoints().error().code, Errc::invalid) << "CA is no certificate";
}

TEST_F(Kubeconfig, DataTakesPrecedenceOverFiles) {
  const auto both = [](const std::string& field, const std::string& content) {
    return field + ": no-such-file, " + field + "-data: " + base64_encode(content);
  };
  const auto access = read(
      config("{server: 'https://h', " + both("certificate-authority", "CA") + "}",
             "{" + both("client-certificate", "CERT") + ", " + both("client-key", "KEY") + "}"));
  ASSERT_TRUE(access) << access.error().what;
  EXPECT_EQ(access->tls_settings.ca_pem, "CA");
  EXPECT_EQ(access->tls_settings.identity.certificate_pem, "CERT");
  EXPECT_EQ(access->tls_settings.identity.key_pem, "KEY");
}

TEST_F(Kubeconfig, TheContextCanBeChosen) {
  const std::string text = config("{server: 'http://[::1]:8080'}", "{token: t}");
  const auto access = read(text, "bare");
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->tls);
  EXPECT_EQ(access->server, (net::HostPort{"::1", 8080}));
  EXPECT_EQ(access->token, "");
  EXPECT_TRUE(access->endpoints().has_value());
}

TEST_F(Kubeconfig, MistakesAreNamed) {
  const std::string good = "{server: 'https://h:1'}";
  const std::pair<Result<ClusterAccess>, std::string> rows[] = {
      {read(config("{server: h}", "{}")), file + ": server \"h\" is neither http:// nor https://"},
      {read(config("{server: 'http://h:x'}", "{}")),
       file + ": server \"http://h:x\": not HOST:PORT: \"h:x\""},
      {read(config(good, "{}"), "two"), file + ": no \"two\" in contexts"},
      {read(config(good, "{}"), "lost"), file + ": no \"gone\" in clusters"},
      {read(config(good, "{exec: {}}")),
       file + ": exec: apiVersion is neither client.authentication.k8s.io/v1 nor /v1beta1"},
      {read(config(good, "{client-key-data: S0VZ}")),
       file + ": user: client-certificate and client-key go together"},
      {read(config("{server: 'https://h:1', certificate-authority-data: '*'}", "{}")),
       file + ": certificate-authority-data: illegal base64 data"},
      {read("- a\n"), file + ": not a kubeconfig"},
  };
  for (const auto& [access, message] : rows) {
    ASSERT_FALSE(access) << message;
    EXPECT_EQ(access.error().what, message);
    EXPECT_EQ(access.error().code, Errc::invalid);
  }
  EXPECT_EQ(read("a: [").error().code, Errc::invalid);
  EXPECT_EQ(read_kubeconfig("/no/such").error().code, Errc::not_found);
  EXPECT_EQ(read(config("{server: 'https://h', certificate-authority: gone}", "{}")).error().code,
            Errc::not_found);
}

TEST_F(Kubeconfig, OtherReadersOfCredentialsAreReported) {
  write("tls.crt", "CERT");
  write("tls.key", "KEY");
  write("token", "t");
  const std::string cluster = "{server: 'https://h'}";
  const struct {
    std::string name;
    std::string user;
    std::vector<std::string> readable;  // world-readable
    std::vector<std::string> expect;    // those that are reported
  } rows[] = {
      {"nothing secret", "{}", {"config"}, {}},
      {"a token inside", "{token: t}", {"config"}, {"config"}},
      {"a token inside, private", "{token: t}", {}, {}},
      {"a key inside",
       "{client-certificate: tls.crt, client-key-data: S0VZ}",
       {"config", "tls.key"},
       {"config"}},
      {"a key beside",
       "{client-certificate: tls.crt, client-key: tls.key}",
       {"config", "tls.crt", "tls.key"},
       {"tls.key"}},
      {"a token beside", "{tokenFile: token}", {"config", "token"}, {"token"}},
      {"a token that is not there yet", "{tokenFile: none}", {}, {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    write("config", config(cluster, row.user));
    for (const char* name : {"config", "tls.crt", "tls.key", "token"}) {
      const bool open =
          std::find(row.readable.begin(), row.readable.end(), name) != row.readable.end();
      ASSERT_EQ(::chmod((scratch.path() / name).c_str(), open ? 0644 : 0600), 0);
    }
    const auto access = read_kubeconfig(file);
    ASSERT_TRUE(access) << access.error().what;
    ASSERT_EQ(access->exposed_files.size(), row.expect.size());
    for (std::size_t i = 0; i < row.expect.size(); ++i) {
      const std::string begin = (scratch.path() / row.expect[i]).string() + " has mode 0644";
      EXPECT_TRUE(access->exposed_files[i].starts_with(begin)) << access->exposed_files[i];
    }
    EXPECT_EQ(warnings_about(*access), access->exposed_files);
  }
}

TEST_F(Kubeconfig, WhatEverybodyMayReplaceIsRefused) {
  write("tls.crt", "CERT");
  for (const char* name : {"config", "tls.key", "token"}) {
    SCOPED_TRACE(name);
    for (const char* each : {"config", "tls.key", "token"}) {
      write(each, config("{server: 'https://h'}",
                         "{client-certificate: tls.crt, client-key: tls.key, tokenFile: token}"));
      ASSERT_EQ(::chmod((scratch.path() / each).c_str(), each == name ? 0606 : 0600), 0);
    }
    const auto access = read_kubeconfig(file);
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().code, Errc::denied);
    EXPECT_NE(access.error().what.find("everybody may replace it"), std::string::npos);
  }
}

TEST_F(Kubeconfig, AServerThatMayBeAnybodyIsReported) {
  const struct {
    std::string name;
    std::string cluster;
    std::string user;
    std::string expect;  // a part of the one warning; "" if there is none
  } rows[] = {
      {"verified", "{server: 'https://h'}", "{token: secret}", ""},
      {"not verified", "{server: 'https://h', insecure-skip-tls-verify: true}", "{token: secret}",
       "the certificate of the API server h:443 is not verified"},
      {"plain", "{server: 'http://h'}", "{token: secret}",
       "the token is sent unencrypted to http://h:80"},
      {"plain, with a file", "{server: 'http://h'}", "{tokenFile: none}", "sent unencrypted"},
      {"plain and anonymous", "{server: 'http://h'}", "{}", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    write("config", config(row.cluster, row.user));
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    const auto warnings = warnings_about(read_kubeconfig(file).value());
    ASSERT_EQ(warnings.size(), row.expect.empty() ? 0u : 1u);
    if (row.expect.empty()) continue;
    EXPECT_NE(warnings[0].find(row.expect), std::string::npos) << warnings[0];
    EXPECT_EQ(warnings[0].find("secret"), std::string::npos);
  }
}

proxy::Rules environment(const std::string& https_proxy, const std::string& no_proxy = "") {
  return proxy::Rules::from([&](std::string_view name) -> std::optional<std::string> {
    if (name == "HTTPS_PROXY") return https_proxy;
    if (name == "NO_PROXY") return no_proxy;
    return std::nullopt;
  });
}

TEST_F(Kubeconfig, AProxyIsThatOfTheClusterOrOfTheEnvironment) {
  const struct {
    std::string name;
    std::string cluster;
    std::string https_proxy;
    std::string no_proxy;
    std::string proxy;  // "" for a direct connection
  } rows[] = {
      {"none", "{server: 'https://h'}", "", "", ""},
      {"of the cluster", "{server: 'https://h', proxy-url: 'http://p'}", "", "", "http://p:80"},
      {"empty", "{server: 'https://h', proxy-url: ''}", "q:1", "", "http://q:1"},
      {"of the environment", "{server: 'https://h'}", "socks5://q", "", "socks5://q:1080"},
      {"an exception", "{server: 'https://h'}", "socks5://q", "h", ""},
      {"of both", "{server: 'https://h', proxy-url: 'https://p'}", "q", "h", "https://p:443"},
      {"loopback", "{server: 'https://127.0.0.1'}", "q", "", ""},
      {"loopback by proxy-url", "{server: 'https://[::1]', proxy-url: 'http://p'}", "", "",
       "http://p:80"},
      {"plain", "{server: 'http://h'}", "q", "", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    auto access = read(config(row.cluster, "{}"));
    ASSERT_TRUE(access) << access.error().what;
    access->environment = environment(row.https_proxy, row.no_proxy);
    access->others = {{.at = {"127.0.0.1", 1}}};
    const auto endpoints = access->endpoints().value();
    const auto& proxy = endpoints[0].proxy;
    EXPECT_EQ(proxy ? proxy->name() : "", row.proxy);
    EXPECT_EQ(endpoints[1].proxy != nullptr, !access->proxy_url.empty());
  }
}

TEST_F(Kubeconfig, PasswordsOfProxiesAreKeptSecret) {
  const std::string open = config("{server: 'https://h', proxy-url: 'http://me:hunter2@p'}", "{}");
  write("config", open);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const auto access = read_kubeconfig(file);
  ASSERT_TRUE(access) << access.error().what;
  ASSERT_EQ(access->exposed_files.size(), 1u);
  EXPECT_EQ(access->exposed_files[0].find("hunter2"), std::string::npos);
  ClusterAccess other = read(config("{server: 'https://h'}", "{}")).value();
  other.environment = environment("http://me:hunter2@p q");
  EXPECT_EQ(other.endpoints().error().what,
            "HTTPS_PROXY: proxy URL: contains a character that must be percent-encoded");
}

TEST_F(Kubeconfig, AProxyIsLoggedOnceWithoutItsPassword) {
  write("config", config("{server: 'https://h', proxy-url: 'http://me:hunter2@p:3128'}", "{}"));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  const ClusterAccess access = read_kubeconfig(file).value();
  test::CapturedLog log;
  log_warnings_about(access);
  const std::string text = log.take();
  EXPECT_NE(text.find(" info API server reached through a proxy server=h:443 proxy=http://p:3128 "
                      "from=proxy-url"),
            std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
}

TEST_F(Kubeconfig, TextThatCouldEscapeIsRefused) {
  const std::pair<std::string, std::string> rows[] = {
      {R"({server: "https://h\r\nX: y:1"})",
       R"(server "https://h\r\nX: y:1": not HOST:PORT: "h\r\nX: y:1")"},
      {R"({server: "https://h\r\n:1"})",
       R"(server "https://h\r\n:1": has a character that no URL has)"},
      {R"({server: "https://h:1/a b"})",
       R"(server "https://h:1/a b": has a character that no URL has)"},
      {"{server: 'https://me:secret@h:1'}", "server: credentials in the URL are not supported"},
      {R"({server: 'https://h', tls-server-name: "a\"b"})", "tls-server-name: not a host name"},
      {R"({server: 'https://h', proxy-url: "http://me:secret@p\r\n"})",
       "proxy-url: proxy URL: contains a character that must be percent-encoded"},
      {"{server: 'https://h', proxy-url: 'socks4://me:secret@p'}",
       "proxy-url: proxy URL: the scheme is none of http, https, socks5 and socks5h"},
  };
  for (const auto& [cluster, why] : rows) {
    const auto access = read(config(cluster, "{}"));
    ASSERT_FALSE(access) << cluster;
    EXPECT_EQ(access.error().what, file + ": " + why);
    EXPECT_EQ(access.error().what.find("secret"), std::string::npos);
  }
}

TEST_F(Kubeconfig, APodHasItsOwnAccess) {
  write("ca.crt", "CA");
  write("token", "secret\n");
  std::string host = "10.0.0.1";
  const auto environment = [&host](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "KUBERNETES_SERVICE_HOST") return host;
    if (std::string_view(name) == "KUBERNETES_SERVICE_PORT") return "6443";
    return std::nullopt;
  };
  const auto access = in_cluster_access(environment, scratch.path());
  ASSERT_TRUE(access) << access.error().what;
  EXPECT_TRUE(access->tls);
  EXPECT_EQ(access->server, (net::HostPort{"10.0.0.1", 6443}));
  EXPECT_EQ(access->tls_settings.ca_pem, "CA");
  EXPECT_EQ(access->token, "secret");
  EXPECT_EQ(access->token_file, scratch.path() / "token");
  host = "fd00::1";
  EXPECT_EQ(in_cluster_access(environment, scratch.path())->server.text(), "[fd00::1]:6443");
  host.clear();
  EXPECT_EQ(in_cluster_access(environment, scratch.path()).error().code, Errc::not_found);
  const auto nowhere = [](const char*) { return std::optional<std::string>(); };
  EXPECT_EQ(in_cluster_access(nowhere, scratch.path()).error().code, Errc::not_found);
}

}  // namespace
}  // namespace holdfast::agent
