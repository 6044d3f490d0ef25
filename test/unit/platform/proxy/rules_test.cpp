// Which proxy the environment selects, with Go's rules for NO_PROXY.

#include "platform/proxy/rules.h"

#include <gtest/gtest.h>

#include <map>

namespace holdfast::proxy {
namespace {

Rules rules_of(const std::map<std::string, std::string>& variables) {
  return Rules::from([&variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(ProxyRules, TheSchemeOfTheServerSelectsTheVariable) {
  const net::HostPort cloud{"cloud", 443};
  const struct {
    std::map<std::string, std::string> variables;
    bool tls;
    std::string url;
    std::string variable;
  } rows[] = {
      {{}, true, "", ""},
      {{{"HTTPS_PROXY", "http://p:1"}}, true, "http://p:1", "HTTPS_PROXY"},
      {{{"HTTPS_PROXY", "http://p:1"}}, false, "", ""},
      {{{"https_proxy", "socks5://p"}}, true, "socks5://p", "https_proxy"},
      {{{"HTTPS_PROXY", "http://p:1"}, {"https_proxy", "http://q"}},
       true,
       "http://p:1",
       "HTTPS_PROXY"},
      {{{"HTTPS_PROXY", " "}, {"https_proxy", "http://q"}}, true, "http://q", "https_proxy"},
      {{{"HTTP_PROXY", "http://p:1"}}, false, "http://p:1", "HTTP_PROXY"},
      {{{"HTTP_PROXY", "http://p:1"}}, true, "", ""},
      {{{"http_proxy", "p:3128"}}, false, "http://p:3128", "http_proxy"},
      {{{"ALL_PROXY", "http://p:1"}}, true, "", ""},
      {{{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "cloud"}}, true, "", ""},
      {{{"HTTPS_PROXY", "http://p:1"}, {"no_proxy", "cloud"}}, true, "", ""},
      {{{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "x"}, {"no_proxy", "cloud"}},
       true,
       "http://p:1",
       "HTTPS_PROXY"},
  };
  for (const auto& row : rows) {
    const Rules::Choice choice = rules_of(row.variables).choose(row.tls, cloud);
    EXPECT_EQ(choice.url, row.url);
    EXPECT_EQ(choice.variable, row.variable);
  }
}

TEST(ProxyRules, TheMachineItselfIsReachedDirectly) {
  const Rules rules =
      rules_of({{"HTTPS_PROXY", "http://p:1"}, {"HTTP_PROXY", "http://p:1"}, {"NO_PROXY", ""}});
  for (const char* host :
       {"localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(rules.choose(true, {host, 443}).url, "") << host;
    EXPECT_EQ(rules.choose(false, {host, 80}).url, "") << host;
  }
  for (const char* host : {"localhost.example", "10.0.0.1", "fd00::1", "0.0.0.0"}) {
    EXPECT_EQ(rules.choose(true, {host, 443}).url, "http://p:1") << host;
  }
}

TEST(ProxyRules, ExceptionsAreThoseOfGo) {
  const struct {
    const char* list;
    net::HostPort to;
    bool exempt;
  } rows[] = {
      {"", {"a", 443}, false},
      {",, ,", {"a", 443}, false},
      {"*", {"a", 443}, true},
      {"x,*", {"10.0.0.1", 443}, true},
      {"example.org", {"example.org", 443}, true},
      {"example.org", {"api.example.org", 443}, true},
      {"example.org", {"badexample.org", 443}, false},
      {"example.org", {"example.org.evil", 443}, false},
      {" EXAMPLE.org ", {"Api.Example.ORG", 443}, true},
      {".example.org", {"example.org", 443}, false},
      {".example.org", {"api.example.org", 443}, true},
      {"*.example.org", {"example.org", 443}, false},
      {"*.example.org", {"a.b.example.org", 443}, true},
      {"*example.org", {"api.example.org", 443}, false},
      {"example.org:443", {"example.org", 443}, true},
      {"example.org:443", {"example.org", 6443}, false},
      {":443", {"example.org", 443}, false},
      {"10.0.0.1", {"10.0.0.1", 443}, true},
      {"10.0.0.1", {"10.0.0.10", 443}, false},
      {"10.0.0.1:6443", {"10.0.0.1", 6443}, true},
      {"10.0.0.1:6443", {"10.0.0.1", 443}, false},
      {"10.0.0.0/8", {"10.1.2.3", 443}, true},
      {"10.0.0.7/8", {"10.1.2.3", 443}, true},
      {"10.0.0.0/8", {"11.1.2.3", 443}, false},
      {"10.0.0.0/8", {"::ffff:10.1.2.3", 443}, true},
      {"10.0.0.0/8", {"10.example", 443}, false},
      {"10.0.0.0/33", {"10.1.2.3", 443}, false},
      {"0.0.0.0/0", {"8.8.8.8", 443}, true},
      {"0.0.0.0/0", {"fd00::1", 443}, false},
      {"fd00::/8", {"fd00::1", 443}, true},
      {"fd00::/8", {"fe80::1", 443}, false},
      {"fd00::1", {"fd00:0::1", 443}, true},
      {"[fd00::1]", {"fd00::1", 443}, true},
      {"[fd00::1]:6443", {"fd00::1", 6443}, true},
      {"[fd00::1]:6443", {"fd00::1", 443}, false},
      {"[", {"fd00::1", 443}, false},
      {"/", {"a", 443}, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(is_exempt(row.list, row.to), row.exempt) << row.list << " " << row.to.text();
  }
}

}  // namespace
}  // namespace holdfast::proxy
