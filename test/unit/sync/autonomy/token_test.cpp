// What is read from answers to TokenRequests.

#include "sync/autonomy/token.h"

#include <gtest/gtest.h>

#include "platform/text.h"

namespace holdfast::sync::autonomy {
namespace {

constexpr const char* path = "/api/v1/namespaces/a/serviceaccounts/s/token";

// A JWT with these claims, which nobody has signed.
std::string jwt(const std::string& claims) {
  std::string text = base64_encode(claims);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return "eyJhbGciOiJub25lIn0." + text.substr(0, text.find('=')) + ".c2ln";
}

std::string answer(const std::string& token, const std::string& said = "2026-11-25T18:49:02Z") {
  return R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{)"
         R"("audiences":["https://kubernetes.default.svc","b"],"expirationSeconds":3607,)"
         R"("boundObjectRef":{"kind":"Pod","name":"p1","uid":"u1"}},"status":{"token":")" +
         token + R"(","expirationTimestamp":")" + said + "\"}}";
}

// The end of the token in such an answer; "never" if it does not say.
std::string end_of(const std::string& body) {
  const auto token = read_token(path, body);
  if (!token) return token.error().what;
  return token->ends ? format_rfc3339(*token->ends) : "never";
}

TEST(Token, ItsOwnEndCounts) {
  const std::string said = "2026-11-25T18:49:02Z";
  struct Case {
    const char* what;
    std::string body;
    std::string ends;
  };
  const Case cases[] = {
      {"a default token: extended to a year, and said to last an hour",
       answer(
           jwt(R"({"exp":1827164935,"iat":1795628935,"kubernetes.io":{"warnafter":1795632542}})")),
       "2027-11-25T17:48:55Z"},
      {"another length: both ends agree", answer(jwt(R"({"exp":1795636135})")),
       "2026-11-25T19:48:55Z"},
      {"a fraction of a second", answer(jwt(R"({"exp":1795636135.75})")), "2026-11-25T19:48:55Z"},
      {"after the last year of the clock", answer(jwt(R"({"exp":1e300})")), "2261-12-31T23:59:59Z"},
      {"a lower end", answer(jwt(R"({"exp":1})")), "1970-01-01T00:00:01Z"},
      {"no claim", answer(jwt("{}")), said},
      {"text", answer(jwt(R"({"exp":"1795636135"})")), said},
      {"zero", answer(jwt(R"({"exp":0})")), said},
      {"negative", answer(jwt(R"({"exp":-5})")), said},
      {"null", answer(jwt(R"({"exp":null})")), said},
      {"a list of claims", answer(jwt("[1]")), said},
      {"claims that are not JSON", answer(jwt("{")), said},
      {"claims that are not base64", answer("a.***.c"), said},
      {"two parts", answer("a.b"), said},
      {"not a JWT", answer("secret"), said},
      {"no token", answer(""), said},
      {"neither end", answer("secret", ""), "never"},
      {"no status", "{}", "never"},
  };
  for (const Case& c : cases) EXPECT_EQ(end_of(c.body), c.ends) << c.what;
}

TEST(Token, IsReadWithWhatItIsFor) {
  const auto token = read_token(path, answer(jwt("{}")));
  ASSERT_TRUE(token);
  EXPECT_EQ(token->namespace_name, "a");
  EXPECT_EQ(token->service_account, "s");
  EXPECT_EQ(token->pod_uid, "u1");
  EXPECT_EQ(token->audiences, (std::vector<std::string>{"https://kubernetes.default.svc", "b"}));
  EXPECT_EQ(read_token(path, "{}")->pod_uid, "");
}

TEST(Token, BadInputIsNamed) {
  for (const char* other :
       {"", "/", "/api/v1/namespaces/a/serviceaccounts/s", "/api/v1/namespaces/a/pods/s/token",
        "/api/v1/namespaces/a/serviceaccounts/s/token/more"}) {
    EXPECT_EQ(read_token(other, "{}").error().what, "not the path of a TokenRequest") << other;
  }
  EXPECT_EQ(read_token(path, "{").error().code, Errc::invalid);
  EXPECT_FALSE(read_token(path, std::string("k8s\0\xff", 5)));
}

TEST(Token, IsNeededByItsPod) {
  const StoredToken bound{
      .namespace_name = "a", .service_account = "s", .pod_uid = "u1", .audiences = {}, .ends = {}};
  EXPECT_TRUE(is_needed(bound, {"u0", "u1"}));
  EXPECT_FALSE(is_needed(bound, {"u0"}));
  EXPECT_FALSE(is_needed(bound, {}));
  StoredToken unbound = bound;
  unbound.pod_uid.clear();
  EXPECT_TRUE(is_needed(unbound, {}));
}

}  // namespace
}  // namespace holdfast::sync::autonomy
