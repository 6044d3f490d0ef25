#include "agent/lab/apiserver/serve_kubeconfig.h"

#include <sys/stat.h>
#include <unistd.h>

#include "agent/client/kubeconfig.h"
#include "platform/fs/file.h"
#include "platform/tls/signer.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::lab {
namespace {

class ServeKubeconfig : public ::testing::Test {
 protected:
  [[nodiscard]] fs::Path file() const { return scratch_.path() / "kubeconfig"; }
  Status write() { return write_kubeconfig(file().string(), access_, clock_.wall()); }
  // What a client reads from the written file.
  ClusterAccess read() {
    auto read = read_kubeconfig(file().string());
    EXPECT_TRUE(read) << (read ? "" : read.error().what);
    return read.value_or(ClusterAccess());
  }
  void expect_refused(std::string_view named) {
    const Status written = write();
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().what.find(file().string()), std::string::npos);
    EXPECT_NE(written.error().what.find(named), std::string::npos) << written.error().what;
  }

  test::ScratchDir scratch_;
  test::VirtualClock clock_;
  KubeconfigAccess access_{.listener = {"127.0.0.1", 7443}, .ca_pem = {}};
};

TEST_F(ServeKubeconfig, WithoutTlsAndTokensNothingIsNeeded) {
  ASSERT_TRUE(write());
  const ClusterAccess read = this->read();
  EXPECT_FALSE(read.tls);
  EXPECT_EQ(read.server, access_.listener);
  EXPECT_EQ(read.token, "");
  EXPECT_TRUE(read.exposed_files.empty());
}

TEST_F(ServeKubeconfig, AnAdministratorsTokenIsChosen) {
  access_.tokens = "n,system:node:a,1,\"system:nodes\"\nad'min: #,me,2,\"system:masters\"\n";
  ASSERT_TRUE(write());
  EXPECT_EQ(read().token, "ad'min: #");
}

TEST_F(ServeKubeconfig, WithoutAnAdministratorThereAreNoCredentialsToWrite) {
  access_.tokens = "n,system:node:a,1,\"system:nodes\"\n";
  expect_refused("system:masters");
}

TEST_F(ServeKubeconfig, WithTlsTheAuthorityAndACertificateAreWritten) {
  const WallTime now = clock_.wall();
  access_.authority = tls::Signer::make_authority("lab", now, now + std::chrono::hours(1));
  access_.ca_pem = access_.authority->certificate_pem;
  ASSERT_TRUE(write());
  const ClusterAccess read = this->read();
  EXPECT_TRUE(read.tls);
  EXPECT_TRUE(read.verifies_servers());
  EXPECT_EQ(read.tls_settings.ca_pem, access_.ca_pem);
  EXPECT_NE(read.tls_settings.identity.certificate_pem, "");
  EXPECT_TRUE(read.endpoints()) << "the key fits the certificate";
}

TEST_F(ServeKubeconfig, AnUnspecifiedAddressIsReachedOverLoopback) {
  for (const auto& [listens, reached] :
       {std::pair("0.0.0.0", "127.0.0.1"), std::pair("::", "::1")}) {
    access_.listener.host = listens;
    ASSERT_TRUE(write());
    EXPECT_EQ(read().server.host, reached);
  }
}

TEST_F(ServeKubeconfig, OnlyItsOwnerMayReadIt) {
  ASSERT_TRUE(fs::atomic_write(file(), "old", 0644));
  ASSERT_TRUE(write());
  struct stat found {};
  ASSERT_EQ(::stat(file().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

TEST_F(ServeKubeconfig, ALinkIsReplacedAndNotFollowed) {
  const fs::Path target = scratch_.path() / "precious";
  ASSERT_TRUE(fs::atomic_write(target, "precious"));
  std::filesystem::create_symlink(target, file());
  ASSERT_TRUE(write());
  EXPECT_EQ(fs::read_all(target, 100).value(), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(file()));
}

TEST_F(ServeKubeconfig, AFolderThatOthersMayChangeIsRefused) {
  const fs::Path folder = scratch_.path() / "shared";
  std::filesystem::create_directory(folder);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  const Status open = write_kubeconfig((folder / "kc").string(), access_, clock_.wall());
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, Errc::denied);
  std::filesystem::create_directory_symlink(folder, scratch_.path() / "link");
  EXPECT_FALSE(
      write_kubeconfig((scratch_.path() / "link" / "kc").string(), access_, clock_.wall()));
}

// Such as /tmp. In a sticky folder of another user, that user could replace the file.
TEST_F(ServeKubeconfig, AFolderWithTheStickyBitIsAcceptedIfItIsRoots) {
  const fs::Path folder = scratch_.path() / "sticky";
  std::filesystem::create_directory(folder);
  ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
  const Status written = write_kubeconfig((folder / "kc").string(), access_, clock_.wall());
  const Errc refused = written ? Errc() : written.error().code;
  EXPECT_EQ(written.has_value(), ::geteuid() == 0);
  EXPECT_TRUE(written || refused == Errc::denied) << to_string(refused);
}

TEST_F(ServeKubeconfig, AMissingFolderIsNamed) {
  const std::string missing = (scratch_.path() / "no" / "kc").string();
  const Status written = write_kubeconfig(missing, access_, clock_.wall());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::not_found);
  EXPECT_NE(written.error().what.find(missing), std::string::npos);
}

}  // namespace
}  // namespace holdfast::agent::lab
