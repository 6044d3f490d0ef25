// --data of `holdfast-lab run`.

#include "agent/lab/run/command.h"
#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::lab::run {
namespace {

boost::asio::awaitable<void> run_into(RunSettings settings, loop::Stop& stop, const Clock& clock,
                                      Result<bool>& met) {
  met = co_await run_scenario(std::move(settings), stop, clock);
}

TEST(LabRunData, AFolderThatIsNotEmptyIsRefusedAndLeftAlone) {
  const test::ScratchDir folder;
  const std::filesystem::path scenario = folder.path() / "s.yaml";
  const std::filesystem::path data = folder.path() / "data";
  ASSERT_TRUE(fs::atomic_write(scenario, "name: s\nduration: 1s\nfleet: {sites: [{name: a}]}\n"));
  ASSERT_TRUE(fs::ensure_dir(data));
  ASSERT_TRUE(fs::atomic_write(data / "notes", "mine"));
  RunSettings settings;
  settings.scenarios = {scenario.string()};
  settings.data = data.string();
  settings.namespaces = "false";
  test::VirtualTime time;
  loop::Stop stop(time.executor());
  Result<bool> met = true;
  time.complete(run_into(std::move(settings), stop, time.clock(), met));
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Errc::invalid);
  EXPECT_EQ(met.error().what, "--data: " + data.string() + " is not empty");
  EXPECT_EQ(fs::list_dir(data).value(), std::vector<std::string>{"notes"});
}

}  // namespace
}  // namespace holdfast::agent::lab::run
