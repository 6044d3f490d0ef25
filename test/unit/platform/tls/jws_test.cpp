#include "platform/tls/jws.h"

namespace holdfast::tls {
namespace {

// Computed with Python's hmac and base64; the headers are those in the Kubernetes documentation.
TEST(Jws, SignaturesAreThoseOfTheBootstrapSigner) {
  EXPECT_EQ(detached_jws("", "abcdef", "0123456789abcdef"),
            "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9.."
            "MO2tlCpY1xB334qWeOe_XEv9c6DIMRNmKJZImOzY17k");
  EXPECT_EQ(detached_jws("apiVersion: v1\nkind: Config\n", "07401b", "f395accd246ae52d"),
            "eyJhbGciOiJIUzI1NiIsImtpZCI6IjA3NDAxYiJ9.."
            "V7vfbveur77TnlLQz-hsORPxM3IuWz8GI4hOaPAzkdk");
}

TEST(Jws, Comparing) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("same", "same"));
  EXPECT_FALSE(equal_in_constant_time("same", "samf"));
  EXPECT_FALSE(equal_in_constant_time("same", "sam"));
}

}  // namespace
}  // namespace holdfast::tls
