// URLs of proxies: what they mean, and that no error repeats a password.

#include "platform/proxy/url.h"

#include <gtest/gtest.h>

namespace holdfast::proxy {
namespace {

TEST(ProxyUrl, IsRead) {
  const struct {
    const char* text;
    const char* name;
    const char* user;
    const char* password;
  } rows[] = {
      {"http://p", "http://p:80", "", ""},
      {"HTTP://p:3128/", "http://p:3128", "", ""},
      {"http://p:3128/path?query#part", "http://p:3128", "", ""},
      {"https://p", "https://p:443", "", ""},
      {"https://me:pass@[fd00::1]:8443", "https://[fd00::1]:8443", "me", "pass"},
      {"http://[fd00::1]", "http://[fd00::1]:80", "", ""},
      {"socks5://p", "socks5://p:1080", "", ""},
      {"socks5h://me@p:9050", "socks5://p:9050", "me", ""},
      {"http://a%3Ab:c%40d@p:1", "http://p:1", "a:b", "c@d"},
      {"http://a:b:c@d@p:1", "http://p:1", "a", "b:c@d"},
      {"http://:@p:1", "http://p:1", "", ""},
  };
  for (const auto& row : rows) {
    const auto url = parse_url(row.text);
    ASSERT_TRUE(url) << row.text << ": " << url.error().what;
    EXPECT_EQ(url->name(), row.name);
    EXPECT_EQ(url->credentials.user, row.user);
    EXPECT_EQ(url->credentials.password, row.password);
    EXPECT_EQ(url->has_credentials, std::string_view(row.text).find('@') != std::string_view::npos);
    EXPECT_TRUE(make(*url, {}));
  }
}

TEST(ProxyUrl, MistakesAreNamedWithoutTheText) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "the scheme is none of http, https, socks5 and socks5h"},
      {"p:3128", "the scheme is none of http, https, socks5 and socks5h"},
      {"socks4://secret@p", "the scheme is none of http, https, socks5 and socks5h"},
      {"ftp://me:secret@p", "the scheme is none of http, https, socks5 and socks5h"},
      {"http://", "no valid HOST:PORT"},
      {"http://me:secret@", "no valid HOST:PORT"},
      {"http://me:secret@p:0", "no valid HOST:PORT"},
      {"http://me:secret@p:65536", "no valid HOST:PORT"},
      {"http://me:secret@p:1:2", "no valid HOST:PORT"},
      {"http://me:secret@p,q:1", "no valid HOST:PORT"},
      {"http://me:secret@p q", "contains a character that must be percent-encoded"},
      {"http://me:secret@p\r\nX: y", "contains a character that must be percent-encoded"},
      {"http://me:se\"cret@p", "contains a character that must be percent-encoded"},
      {std::string("http://secret\0@p", 16), "contains a character that must be percent-encoded"},
      {"http://me:secret%0d%0a@p", "the credentials contain a control character"},
      {"http://me:secret%zz@p", "the credentials have a malformed percent escape"},
      {"http://" + std::string(3000, 'a'), "longer than 2048 bytes"},
      {"socks5://" + std::string(256, 'a') + ":secret@p",
       "SOCKS allows 255 bytes for the user and for the password"},
  };
  for (const auto& [text, why] : rows) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Errc::invalid);
    EXPECT_EQ(url.error().what, "proxy URL: " + why) << text;
    EXPECT_EQ(url.error().what.find("secret"), std::string::npos);
  }
  const auto bad_trust = make(parse_url("https://p").value(), {.ca_pem = "nonsense"});
  ASSERT_FALSE(bad_trust);
  EXPECT_EQ(bad_trust.error().code, Errc::invalid);
}

}  // namespace
}  // namespace holdfast::proxy
