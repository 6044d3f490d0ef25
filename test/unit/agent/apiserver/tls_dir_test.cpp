// The server's certificates: it creates them if there are none, and never replaces existing ones.

#include "agent/lab/apiserver/tls_dir.h"

#include <sys/stat.h>

#include <fstream>

#include "platform/tls/certificate.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::lab {
namespace {

const WallTime now = parse_rfc3339("2026-11-21T00:00:00Z").value();

TEST(TlsDirTest, AnEmptyOneIsFilledOnce) {
  const test::ScratchDir scratch;
  const std::string dir = (scratch.path() / "tls").string();
  const auto first = open_tls_dir(dir, "192.0.2.1", now);
  ASSERT_TRUE(first) << first.error().what;
  ASSERT_TRUE(first->authority);
  EXPECT_TRUE(first->context->verifies_peer());
  std::ifstream in(dir + "/server.crt");
  const std::string server{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(tls::check_signed_by(server, first->authority->certificate_pem));
  EXPECT_EQ(tls::read_certificate(server)->names.alternatives,
            (std::vector<std::string>{"DNS:localhost", "IP:127.0.0.1", "IP:::1", "IP:192.0.2.1"}));
  struct stat status {};
  ASSERT_EQ(stat((dir + "/ca.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto second = open_tls_dir(dir, "192.0.2.1", now);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->authority->certificate_pem, first->authority->certificate_pem);
}

TEST(TlsDirTest, WhatIsMissingOrWrongIsNamed) {
  const test::ScratchDir scratch;
  const std::string dir = scratch.path().string();
  std::ofstream(dir + "/server.crt") << "nonsense";
  const auto no_key = open_tls_dir(dir, "127.0.0.1", now);
  ASSERT_FALSE(no_key);
  EXPECT_EQ(no_key.error().code, Errc::not_found);
  EXPECT_NE(no_key.error().what.find("server.key"), std::string::npos) << no_key.error().what;
  std::ofstream(dir + "/server.key") << "nonsense";
  EXPECT_EQ(open_tls_dir(dir, "127.0.0.1", now).error().code, Errc::invalid);
}

TEST(TlsDirTest, WithoutTheAuthoritysKeyNobodySigns) {
  const test::ScratchDir scratch;
  const std::string dir = scratch.path().string();
  ASSERT_TRUE(open_tls_dir(dir, "127.0.0.1", now));
  std::filesystem::remove(dir + "/ca.key");
  const auto opened = open_tls_dir(dir, "127.0.0.1", now);
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->authority);
  EXPECT_TRUE(opened->context->verifies_peer());
  std::filesystem::remove(dir + "/ca.crt");
  EXPECT_FALSE(open_tls_dir(dir, "127.0.0.1", now)->context->verifies_peer());
}

}  // namespace
}  // namespace holdfast::agent::lab
