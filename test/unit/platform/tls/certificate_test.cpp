// Keys, certificate requests and certificates: creating, reading, and errors.

#include "platform/tls/certificate.h"

#include "platform/tls/signer.h"
#include "test/support/certificates.h"

namespace holdfast::tls {
namespace {

using namespace std::chrono_literals;

const WallTime begins = parse_rfc3339("2026-01-02T03:04:05Z").value();
const WallTime ends = parse_rfc3339("2027-01-02T03:04:05Z").value();

const Names node{.common_name = "system:node:edge-a",
                 .organizations = {"system:nodes", "a, b"},
                 .alternatives = {"DNS:edge-a", "IP:192.0.2.7", "IP:2001:db8::7"}};

Identity authority() { return Signer::make_authority("ca", begins - 1h, ends + 24h); }

TEST(Certificate, ARequestIsSignedWithAllItsNames) {
  const Identity ca = authority();
  const Signer signer = Signer::make(ca).value();
  const std::string key = make_key_pem();
  const std::string request = make_request_pem(key, node).value();
  EXPECT_TRUE(request.starts_with("-----BEGIN CERTIFICATE REQUEST-----")) << request;
  EXPECT_EQ(read_request(request).value(), node);
  const std::string pem =
      signer.sign(request, {.not_before = begins, .not_after = ends, .for_client = true}).value();
  const Certificate made = read_certificate(pem).value();
  EXPECT_EQ(made.names, node);
  EXPECT_EQ(made.not_before, begins);
  EXPECT_EQ(made.not_after, ends);
  EXPECT_EQ(made.public_key_sha256.size(), 64u);
  EXPECT_TRUE(check_pair({pem, key}));
  EXPECT_TRUE(check_signed_by(pem, ca.certificate_pem));
  EXPECT_TRUE(check_signed_by(pem, authority().certificate_pem + ca.certificate_pem));
  EXPECT_TRUE(Context::for_client({.ca_pem = ca.certificate_pem, .identity = {pem, key}}));
}

TEST(Certificate, AnAuthorityEndsBeforeWhatItSignsOtherwise) {
  const Signer signer = Signer::make(authority()).value();
  const std::string request = make_request_pem(make_key_pem(), node).value();
  const std::string pem =
      signer.sign(request, {.not_before = begins, .not_after = ends + 1000h}).value();
  EXPECT_EQ(read_certificate(pem)->not_after, ends + 24h);
}

TEST(Certificate, WhatDoesNotBelongTogetherIsRefused) {
  const Signer signer = Signer::make(authority()).value();
  const std::string key = make_key_pem();
  const std::string request = make_request_pem(key, node).value();
  const Grant grant{.not_before = begins, .not_after = ends, .for_client = true};
  const std::string pem = signer.sign(request, grant).value();
  struct Case {
    Status status;
    std::string what;
  };
  const Case cases[] = {
      {check_pair({pem, make_key_pem()}), "the private key is not the certificate's"},
      {check_pair({"", key}), "certificate: "},
      {check_pair({pem, "nonsense"}), "private key: "},
      {check_signed_by(pem, authority().certificate_pem), "none of the given authorities"},
      {check_signed_by(pem, ""), "none of the given authorities"},
      {check_signed_by("nonsense", pem), "certificate: "},
  };
  for (const Case& c : cases) {
    ASSERT_FALSE(c.status) << c.what;
    EXPECT_EQ(c.status.error().code, Errc::invalid);
    EXPECT_TRUE(c.status.error().what.starts_with(c.what)) << c.status.error().what;
  }
  EXPECT_FALSE(Signer::make({pem, key})) << "a leaf certificate cannot sign";
}

TEST(Certificate, BadTextIsAnError) {
  const std::string key = make_key_pem();
  std::string damaged = make_request_pem(key, node).value();
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_FALSE(read_request(damaged));
  for (const std::string text : {"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n"}) {
    EXPECT_FALSE(read_certificate(text)) << text;
    EXPECT_FALSE(read_request(text)) << text;
    EXPECT_FALSE(make_request_pem(text, node)) << text;
    EXPECT_FALSE(Signer::make({text, key})) << text;
  }
  const std::string long_name(100, 'x');
  EXPECT_FALSE(make_request_pem(key, {.common_name = long_name}));
  for (const std::string name : {"edge-a", "DNS:a,IP:192.0.2.1", "IP:nowhere", "DNS:a\n[b]"}) {
    const auto made = make_request_pem(key, {.common_name = "a", .alternatives = {name}});
    ASSERT_FALSE(made) << name;
    EXPECT_TRUE(made.error().what.starts_with("name in ")) << made.error().what;
  }
}

TEST(Certificate, ASelfSignedOneServes) {
  const Identity made =
      make_self_signed(node, {.not_before = begins, .not_after = ends, .for_server = true}).value();
  EXPECT_TRUE(check_pair(made));
  EXPECT_TRUE(check_signed_by(made.certificate_pem, made.certificate_pem));
  EXPECT_EQ(read_certificate(made.certificate_pem)->names, node);
  EXPECT_TRUE(Context::for_server({.identity = made}));
}

TEST(Certificate, ThoseOfOtherProgramsAreRead) {
  const test::Authority other("another ca");
  const Identity leaf =
      other.sign({.common_name = "x", .organizations = {"o"}, .begins = -60s, .ends = 3600s});
  const Certificate read = read_certificate(leaf.certificate_pem).value();
  EXPECT_EQ(read.names, (Names{.common_name = "x", .organizations = {"o"}}));
  EXPECT_EQ(read.not_after - read.not_before, 3660s);
  EXPECT_TRUE(check_signed_by(leaf.certificate_pem, other.certificate_pem()));
}

}  // namespace
}  // namespace holdfast::tls
