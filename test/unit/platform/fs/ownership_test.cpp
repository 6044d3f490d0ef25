#include "platform/fs/ownership.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test/support/scratch_dir.h"

namespace holdfast::fs {
namespace {

constexpr uid_t stranger = 65534;

class Ownership : public testing::Test {
 protected:
  [[nodiscard]] Path at(const std::string& name) const { return dir_.path() / name; }

  void file(const std::string& name, mode_t mode) {
    ASSERT_TRUE(append(at(name), "secret"));
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
  }
  void dir(const std::string& name, mode_t mode) {
    ASSERT_TRUE(ensure_dir(at(name)));
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
  }
  void give_away(const std::string& name) {
    ASSERT_EQ(::lchown(at(name).c_str(), stranger, stranger), 0);
  }

  template <class T>
  static std::string said(const Result<T>& result) {
    return result ? "ok" : std::string(to_string(result.error().code)) + ": " + result.error().what;
  }

 private:
  test::ScratchDir dir_;
};

TEST_F(Ownership, ASecretThatOthersMayReadIsRefused) {
  const struct {
    mode_t mode;
    bool good;
  } rows[] = {{0600, true},  {0400, true},  {0700, true},  {0640, false},
              {0604, false}, {0620, false}, {0644, false}, {0666, false}};
  file("key", 0600);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.mode);
    ASSERT_EQ(::chmod(at("key").c_str(), row.mode), 0);
    const auto read = read_secret(at("key"), 100);
    ASSERT_EQ(read.has_value(), row.good) << said(read);
    if (row.good) continue;
    EXPECT_EQ(read.error().code, Errc::denied);
    EXPECT_NE(read.error().what.find("chmod 600 " + at("key").string()), std::string::npos);
    EXPECT_NE(read.error().what.find(" has mode 0"), std::string::npos) << read.error().what;
    EXPECT_EQ(read.error().what.find("secret\n"), std::string::npos);
  }
}

TEST_F(Ownership, ASecretIsAPlainFile) {
  dir("dir", 0700);
  EXPECT_EQ(read_secret(at("dir"), 100).error().code, Errc::denied);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_secret(at("pipe"), 100).error().code, Errc::denied)
      << "opening a pipe must not block";
  EXPECT_EQ(read_secret(at("none"), 100).error().code, Errc::not_found);
  file("key", 0600);
  EXPECT_EQ(read_secret(at("key"), 5).error().code, Errc::exhausted);
  ASSERT_EQ(::symlink("key", at("link").c_str()), 0);
  EXPECT_EQ(read_secret(at("link"), 100).value(), "secret");
}

TEST_F(Ownership, ASecretOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  file("key", 0600);
  give_away("key");
  EXPECT_EQ(said(read_secret(at("key"), 100)), "denied: " + at("key").string() +
                                                   " belongs to user 65534; run: chown 0 " +
                                                   at("key").string());
  EXPECT_EQ(read_own(at("key"), 100).error().code, Errc::denied);
  EXPECT_EQ(check_own_file(at("key")).error().code, Errc::denied);
  EXPECT_NE(read_foreign_secret(at("key"), 100)->warning.find("belongs to user 65534"),
            std::string::npos);
}

TEST_F(Ownership, OurOwnFilesAreNoLinksAndWrittenByNobodyElse) {
  file("plain", 0644);
  file("group", 0620);
  file("all", 0602);
  dir("dir", 0700);
  ASSERT_EQ(::symlink("plain", at("link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", at("dangling").c_str()), 0);
  const struct {
    const char* name;
    std::string expect;
  } rows[] = {{"plain", "ok"},
              {"group", "has mode 0620: others may write to it"},
              {"all", "has mode 0602: others may write to it"},
              {"dir", "is not a regular file"},
              {"link", "is a symbolic link"},
              {"dangling", "is a symbolic link"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_NE(said(check_own_file(at(row.name))).find(row.expect), std::string::npos);
    EXPECT_NE(said(read_own(at(row.name), 100)).find(row.expect), std::string::npos);
  }
  EXPECT_TRUE(check_own_file(at("none")));
  EXPECT_EQ(read_own(at("none"), 100).error().code, Errc::not_found);
}

TEST_F(Ownership, OtherSoftwaresSecretsAreReadWithAWarning) {
  file("kubelet.conf", 0600);
  EXPECT_EQ(read_foreign_secret(at("kubelet.conf"), 100)->warning, "");
  ASSERT_EQ(::chmod(at("kubelet.conf").c_str(), 0644), 0);
  const auto read = read_foreign_secret(at("kubelet.conf"), 100);
  EXPECT_EQ(read->bytes, "secret");
  EXPECT_EQ(read->warning, at("kubelet.conf").string() +
                               " has mode 0644: users besides its owner may read this secret; "
                               "run: chmod 600 " +
                               at("kubelet.conf").string());
  const std::pair<mode_t, const char*> rows[] = {{0620, "may write this secret"},
                                                 {0640, "may read this secret"},
                                                 {0664, "may read and write"}};
  for (const auto& [mode, rights] : rows) {
    ASSERT_EQ(::chmod(at("kubelet.conf").c_str(), mode), 0);
    const std::string warning = read_foreign_secret(at("kubelet.conf"), 100)->warning;
    EXPECT_NE(warning.find(rights), std::string::npos) << warning;
  }
  ASSERT_EQ(::chmod(at("kubelet.conf").c_str(), 0646), 0);
  EXPECT_EQ(read_foreign_secret(at("kubelet.conf"), 100).error().code, Errc::denied);
}

TEST_F(Ownership, AWarningNamesTheModeAndTheOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  file("key", 0644);
  give_away("key");
  const std::string warning = read_foreign_secret(at("key"), 100)->warning;
  EXPECT_NE(warning.find("has mode 0644"), std::string::npos) << warning;
  EXPECT_NE(warning.find("belongs to user 65534"), std::string::npos) << warning;
  EXPECT_EQ(read_trusted(at("key"), 100).error().code, Errc::denied);
}

TEST_F(Ownership, ADirectoryThatOthersMayWriteToIsRefused) {
  const struct {
    mode_t mode;
    bool good;
  } rows[] = {{0700, true}, {0755, true}, {0770, false}, {0707, false}, {01777, false}};
  dir("data", 0700);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.mode);
    ASSERT_EQ(::chmod(at("data").c_str(), row.mode), 0);
    const auto checked = ensure_own_dir(at("data"));
    ASSERT_EQ(checked.has_value(), row.good) << said(checked);
    if (row.good) continue;
    EXPECT_EQ(checked.error().code, Errc::denied);
    EXPECT_NE(checked.error().what.find("chmod go-w " + at("data").string()), std::string::npos);
  }
}

TEST_F(Ownership, ADirectoryWhoseNameOthersMayTakeIsRefused) {
  dir("above", 0777);
  EXPECT_NE(said(ensure_own_dir(at("above/data"))).find("others may replace what is in it"),
            std::string::npos);
  ASSERT_EQ(::chmod(at("above").c_str(), 01777), 0);
  EXPECT_TRUE(ensure_own_dir(at("above/data")));
  EXPECT_TRUE(ensure_own_dir(at("above/data/")));
  EXPECT_TRUE(ensure_own_dir(at("above/../above/./data")));
}

TEST_F(Ownership, LinksAreFollowedOnTheWayOnly) {
  dir("real", 0700);
  ASSERT_EQ(::symlink("real", at("link").c_str()), 0);
  EXPECT_NE(said(ensure_own_dir(at("link"))).find("is a symbolic link"), std::string::npos);
  EXPECT_NE(said(ensure_own_dir(at("link/"))).find("is a symbolic link"), std::string::npos);
  EXPECT_TRUE(ensure_own_dir(at("link/data")));
  dir("open", 0777);
  ASSERT_EQ(::symlink("open", at("open-link").c_str()), 0);
  EXPECT_EQ(ensure_own_dir(at("open-link/data")).error().code, Errc::denied);
}

TEST_F(Ownership, DirectoriesOfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
  dir("data", 0700);
  give_away("data");
  EXPECT_EQ(said(ensure_own_dir(at("data"))), "denied: " + at("data").string() +
                                                  " belongs to user 65534; run: chown 0 " +
                                                  at("data").string());
  EXPECT_EQ(ensure_own_dir(at("data/below")).error().code, Errc::denied);
  dir("real", 0700);
  dir("sticky", 01777);
  ASSERT_EQ(::symlink(at("real").c_str(), at("sticky/theirs").c_str()), 0);
  give_away("sticky/theirs");
  EXPECT_EQ(ensure_own_dir(at("sticky/theirs/data")).error().code, Errc::denied);
}

}  // namespace
}  // namespace holdfast::fs
