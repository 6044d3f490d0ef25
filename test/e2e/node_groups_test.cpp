// What a lab with a kubelet leaves when it crashes: control groups with processes. The next one
// removes them, but not those of labs that run.

#include "agent/lab/cluster/node_groups.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "platform/fs/file.h"
#include "platform/text.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using agent::lab::cluster::NodeGroups;

// The groups of this name in all hierarchies; those in which they cannot be made are left out.
std::vector<std::filesystem::path> make_groups(const std::string& name) {
  std::vector<std::filesystem::path> made;
  const std::string mounts = fs::read_all("/proc/mounts", 1 << 20).value_or("");
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 3 || !words[2].starts_with("cgroup")) continue;
    const auto group = std::filesystem::path(words[1]) / name;
    if (::mkdir(group.c_str(), 0755) == 0) made.push_back(group);
  }
  return made;
}

std::size_t count_existing(const std::vector<std::filesystem::path>& groups) {
  return static_cast<std::size_t>(
      std::count_if(groups.begin(), groups.end(), [](const std::filesystem::path& group) {
        std::error_code ec;
        return std::filesystem::exists(group, ec);
      }));
}

TEST(LabNodeGroups, TheNextLabRemovesThoseOfACrashedOne) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const NodeGroups own("leftovers-test");
  const auto living = make_groups(own.name());
  if (living.empty()) GTEST_SKIP() << "this machine makes no control groups";
  // No process of this number has begun at the first tick.
  const auto crashed =
      make_groups("holdfast-lab-" + std::to_string(getpid()) + "-1-leftovers-test");
  EXPECT_EQ(crashed.size(), living.size());
  const test::ScratchDir scratch;
  test::Process inside({"/bin/sleep", "1000"}, scratch.path() / "inside.log");
  std::size_t joined = 0;
  for (const auto& group : crashed) {
    // A new group of the hierarchy cpuset accepts no processes.
    std::ofstream processes(group / "cgroup.procs");
    processes << inside.pid() << std::flush;
    if (processes.good()) ++joined;
  }
  EXPECT_GT(joined, 0U);

  EXPECT_GE(NodeGroups::remove_leftovers(), 1);
  const auto status = inside.wait(20s);
  EXPECT_TRUE(status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
  EXPECT_TRUE(test::eventually(20s, [&crashed] {
    (void)NodeGroups::remove_leftovers();  // groups are busy until their processes have ended
    return count_existing(crashed) == 0;
  }));
  EXPECT_EQ(count_existing(living), living.size()) << "this program runs";
  EXPECT_TRUE(own.remove());
  EXPECT_EQ(count_existing(living), 0U);
}

}  // namespace
}  // namespace holdfast
