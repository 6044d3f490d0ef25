// Attacks through files that other users may write or read, and through secrets on command lines.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "test/attack/attack_fixture.h"
#include "test/support/quick_agent.h"

namespace holdfast::attack {
namespace {

namespace fs = std::filesystem;

const std::string key(32, 'k');

class Files : public Attack {
 protected:
  // Expects the agent to end with an error that names the file, before it serves any request.
  void expect_refusal(const std::vector<std::string>& flags, const std::string& named) {
    (void)fs::remove(file("edge.log"));
    launch_edge(flags);
    const auto up = [this] {
      return !edge->running() || ask(admin_port, {.target = "/readyz", .limit = 500ms}).served();
    };
    EXPECT_TRUE(eventually(10s, up));
    const auto code = edge->wait(0ms);
    EXPECT_TRUE(code.has_value()) << named << ": the agent runs in spite of it";
    EXPECT_NE(code.value_or(1), 0);
    EXPECT_NE(edge_log().find(named), std::string::npos) << edge_log();
    edge->kill();
  }
};

TEST_F(Files, ADataDirectoryOfOthersIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  const struct {
    const char* name;
    mode_t mode;
    uid_t owner;
  } folders[] = {{"writable", 0777, 0}, {"group-writable", 0770, 0}, {"nobodys", 0700, nobody}};
  for (const auto& folder : folders) {
    const std::string path = file(folder.name);
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    const gid_t group = folder.mode == 0770 ? nobody : 0;
    ASSERT_EQ(chown(path.c_str(), folder.owner, group), 0);
    ASSERT_EQ(chmod(path.c_str(), folder.mode), 0);
    expect_refusal({"--data-dir=" + path}, path);
  }
}

// The user nobody plants symbolic links where the agent creates its files.
TEST_F(Files, PlantedLinksAreNotFollowed) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  ASSERT_NO_FATAL_FAILURE(start_edge());
  edge->kill();
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(file("edge"))) {
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), file("edge")));
  }
  ASSERT_FALSE(names.empty());
  const std::string precious = file("precious");
  write_file(precious, "precious", 0644);
  for (const bool writable : {true, false}) {
    const std::string path = file(writable ? "planted-open" : "planted");
    for (const std::string& name : names) {
      for (const std::string suffix : {"", ".tmp", ".new", "-journal", "-wal"}) {
        const fs::path link = path + "/" + name + suffix;
        fs::create_directories(link.parent_path());
        std::error_code there_already;
        fs::create_symlink(precious, link, there_already);
      }
    }
    ASSERT_EQ(chmod(path.c_str(), writable ? 0777 : 0700), 0);
    launch_edge({"--data-dir=" + path});
    (void)eventually(3s, [this] {
      return !edge->running() || ask(admin_port, {.target = "/readyz", .limit = 500ms}).served();
    });
    if (edge->running()) (void)as_node(treasure_list + "&resourceVersion=0");
    edge->kill();
    EXPECT_EQ(read_file(precious), "precious") << "the agent wrote through a link in " << path;
    struct stat now {};
    (void)stat(precious.c_str(), &now);
    EXPECT_EQ(now.st_mode & 0777, 0644u);
  }
}

TEST_F(Files, AKeyThatOthersMayReadIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  write_file(file("good.key"), key, 0600);
  ASSERT_NO_FATAL_FAILURE(start_edge({"--cache-key-file=" + file("good.key")}));
  edge->kill();
  for (const mode_t mode : {0644U, 0640U, 0604U, 0666U}) {
    const std::string path = file("key-" + std::to_string(mode));
    write_file(path, key, mode);
    ASSERT_EQ(chown(path.c_str(), 0, mode == 0640 ? nobody : 0), 0);
    expect_refusal({"--cache-key-file=" + path}, path);
  }
  write_file(file("nobodys.key"), key, 0600);
  ASSERT_EQ(chown(file("nobodys.key").c_str(), nobody, 0), 0);
  expect_refusal({"--cache-key-file=" + file("nobodys.key")}, file("nobodys.key"));
}

class Joining : public Attack {
 protected:
  const std::string token = join_token;

  void SetUp() override {
    Attack::SetUp();
    if (IsSkipped()) return;
    tls = true;
    ASSERT_NO_FATAL_FAILURE(start_lab());
  }

  void join(const std::string& flag) {
    Launch how;
    how.argv = {"holdfast-edge",
                "--node-name=edge-a",
                flag,
                "--server=https://127.0.0.1:" + std::to_string(lab_port),
                "--ca-file=" + file("tls") + "/ca.crt",
                "--data-dir=" + file("edge"),
                "--listen=127.0.0.1:" + std::to_string(edge_port),
                "--admin-listen=127.0.0.1:" + std::to_string(admin_port),
                "--secure-listen=127.0.0.1:" + std::to_string(free_port())};
    const std::vector<std::string> quick = test::quick_agent_flags();
    how.argv.insert(how.argv.end(), quick.begin(), quick.end());
    how.log = file("edge.log");
    edge = std::make_unique<Program>(how);
    const bool joined = eventually(20s, [this] {
      return !edge->running() ||
             metrics().find("holdfast_edge_link_state{state=\"connected\"} 1") != std::string::npos;
    });
    EXPECT_TRUE(joined && edge->running()) << edge_log();
    EXPECT_EQ(edge_log().find(token), std::string::npos) << "the token is in the log";
  }
};

TEST_F(Joining, ATokenInAFileIsNotSeenByOthers) {
  write_file(file("token"), token + "\n");
  join("--join-token-file=" + file("token"));
  const std::string pid = std::to_string(edge->pid());
  const std::string seen = run_as_nobody([&pid] {
    return read_file("/proc/" + pid + "/cmdline") + read_file("/proc/" + pid + "/environ");
  });
  EXPECT_NE(seen.find("--join-token-file"), std::string::npos) << "the command line was not seen";
  EXPECT_EQ(seen.find(token), std::string::npos);
}

TEST_F(Joining, ATokenOnTheCommandLineIsWarnedOf) {
  join("--join-token=" + token);
  EXPECT_NE(edge_log().find("join-token-file"), std::string::npos) << edge_log();
}

TEST_F(Joining, ATokenFileThatOthersMayReadIsRefused) {
  write_file(file("token"), token, 0644);
  Launch how{.argv = {"holdfast-edge", "--node-name=edge-a", "--join-token-file=" + file("token"),
                      "--server=https://127.0.0.1:" + std::to_string(lab_port),
                      "--ca-file=" + file("tls") + "/ca.crt", "--data-dir=" + file("edge"),
                      "--listen=127.0.0.1:" + std::to_string(edge_port),
                      "--admin-listen=127.0.0.1:" + std::to_string(admin_port),
                      "--secure-listen=127.0.0.1:" + std::to_string(free_port())},
             .log = file("edge.log")};
  edge = std::make_unique<Program>(how);
  const auto code = edge->wait(5s);
  EXPECT_TRUE(code.has_value()) << "the agent runs in spite of it";
  EXPECT_NE(code.value_or(1), 0);
  EXPECT_NE(edge_log().find(file("token")), std::string::npos) << edge_log();
  EXPECT_EQ(edge_log().find("not expected"), std::string::npos) << edge_log();
}

}  // namespace
}  // namespace holdfast::attack
