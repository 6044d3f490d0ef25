// Keys and certificates on disk: only their owner can read them, and damage is reported.

#include "agent/edge/identity/pki_dir.h"

#include <sys/stat.h>

#include <fstream>

#include "platform/tls/certificate.h"
#include "test/support/certificates.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

using sync::identity::CertificateUse;

mode_t mode_of(const fs::Path& file) {
  struct stat status {};
  EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
  return status.st_mode & 0777;
}

class PkiDirTest : public testing::Test {
 protected:
  test::ScratchDir dir_;
  PkiDir pki_ = PkiDir::open(dir_.path()).value();
  test::Authority ca_{"ca"};
  tls::Identity identity_ = ca_.sign({.common_name = "system:node:a"});
};

TEST_F(PkiDirTest, WhatIsStoredIsThereAgainForUsAlone) {
  EXPECT_EQ(pki_.load(CertificateUse::client).value(), std::nullopt);
  ASSERT_TRUE(pki_.store(CertificateUse::client, identity_));
  const auto loaded = PkiDir::open(dir_.path())->load(CertificateUse::client).value();
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(tls::check_pair(*loaded));
  EXPECT_TRUE(tls::Context::for_client({.identity = *loaded}));
  EXPECT_EQ(pki_.load(CertificateUse::serving).value(), std::nullopt);
  ASSERT_TRUE(pki_.store(CertificateUse::serving, *loaded)) << "what was loaded can be stored";
  EXPECT_TRUE(tls::check_pair(*pki_.load(CertificateUse::serving).value()));
  EXPECT_EQ(mode_of(dir_.path() / "pki"), 0700u);
  EXPECT_EQ(mode_of(dir_.path() / "pki/client-current.pem"), 0600u);
}

TEST_F(PkiDirTest, DamageIsNamedAndTheFileKept) {
  const fs::Path file = dir_.path() / "pki/client-current.pem";
  const tls::Identity other = ca_.sign({.common_name = "system:node:a"});
  for (const std::string& text : {std::string(), std::string("nonsense"), identity_.key_pem,
                                  identity_.certificate_pem + other.key_pem}) {
    ASSERT_TRUE(fs::atomic_write(file, text));
    const auto loaded = pki_.load(CertificateUse::client);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::corrupt);
    EXPECT_NE(loaded.error().what.find(file.string()), std::string::npos);
    EXPECT_EQ(loaded.error().what.find("BEGIN"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(file));
  }
}

TEST_F(PkiDirTest, TheClusterIsFoundAgain) {
  EXPECT_EQ(pki_.load_cluster().error().code, Errc::not_found);
  ASSERT_TRUE(pki_.store(CertificateUse::client, identity_));
  ClusterAccess access;
  access.tls = true;
  access.server = {"2001:db8::1", 6443};
  access.path_prefix = "/clusters/a";
  access.token = "never written";
  access.tls_settings.ca_pem = ca_.certificate_pem();
  access.tls_settings.server_name = "kubernetes";
  access.proxy_url = "http://me:hunter2@proxy:3128";
  ASSERT_TRUE(pki_.store_cluster(access));
  const ClusterAccess found = pki_.load_cluster().value();
  EXPECT_TRUE(found.tls);
  EXPECT_EQ(found.server, access.server);
  EXPECT_EQ(found.path_prefix, access.path_prefix);
  EXPECT_EQ(found.token, "");
  EXPECT_EQ(found.tls_settings.ca_pem, access.tls_settings.ca_pem);
  EXPECT_EQ(found.tls_settings.server_name, "kubernetes");
  EXPECT_EQ(found.proxy_url, access.proxy_url);
  EXPECT_TRUE(tls::check_pair(found.tls_settings.identity))
      << "the kubeconfig contains a usable identity";
  EXPECT_EQ(mode_of(dir_.path() / "pki/node.kubeconfig"), 0600u);
}

}  // namespace
}  // namespace holdfast::agent
