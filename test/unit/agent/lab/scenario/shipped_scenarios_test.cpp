// The scenarios in test/scenarios: all are read without an error.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "agent/lab/scenario/configuration.h"
#include "agent/lab/scenario/scenario_file.h"
#include "platform/fs/file.h"
#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

std::set<std::string> shipped_files() {
  std::set<std::string> files;
  const std::filesystem::path folder = std::filesystem::path(HOLDFAST_SOURCE_ROOT) / "test";
  for (const auto& entry : std::filesystem::directory_iterator(folder / "scenarios")) {
    if (entry.path().extension() == ".yaml") files.insert(entry.path().string());
  }
  return files;
}

TEST(ShippedScenarios, AreRight) {
  const auto files = shipped_files();
  EXPECT_GT(files.size(), 20U) << "README.md says so";
  std::set<std::string> names;
  for (const std::string& file : files) {
    const auto scenario = read_scenario(file);
    if (!scenario) {
      ADD_FAILURE() << scenario.error().what;
      continue;
    }
    EXPECT_EQ(scenario->name, std::filesystem::path(file).stem()) << file;
    EXPECT_TRUE(names.insert(scenario->name).second) << file;
    EXPECT_FALSE(scenario->about.empty()) << file;
    EXPECT_FALSE(scenario->events.empty()) << file;
    EXPECT_FALSE(scenario->expectations.empty()) << file;
    const auto configuration = configuration_of(*scenario);
    EXPECT_TRUE(configuration) << (configuration ? "" : configuration.error().what);
  }
}

TEST(ShippedScenarios, TheExampleInTheReadmeIsRight) {
  const std::string readme = std::string(HOLDFAST_SOURCE_ROOT) + "/agent/lab/scenario/README.md";
  const auto text = fs::read_all(readme, 1 << 20);
  ASSERT_TRUE(text);
  const std::size_t start = text->find("```yaml\n") + 8;
  const std::string example = text->substr(start, text->find("```", start) - start);
  const auto scenario = parse_text(example, {"fleet.sites.a.labels.\"example.com/role\"=cell"},
                                   {{"my-app.yaml", "kind: Service\n"}});
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->events.size(), 1U);
  std::string wrong = example;
  wrong.replace(wrong.find("4g"), 2, "5g");
  EXPECT_EQ(error_of(wrong, {}, {{"my-app.yaml", "kind: Service\n"}}),
            "s.yaml:7:31: fleet.sites[0].link: unknown profile \"5g\"; did you mean \"4g\"?");
}

TEST(ShippedScenarios, TheExampleInTheMainReadmeIsRight) {
  const auto text = fs::read_all(std::string(HOLDFAST_SOURCE_ROOT) + "/README.md", 1 << 20);
  ASSERT_TRUE(text);
  const std::size_t start = text->find("```yaml\n") + 8;
  const std::string example = text->substr(start, text->find("```", start) - start);
  const FilesBeside files{{"shop.yaml", "kind: Service\n"}};
  const std::vector<std::string> rows[] = {{},
                                           {"cloud.node-monitor-grace-period=90s"},
                                           {"duration=3m", "events[0].at=10s", "events[0].for=2m"}};
  for (const std::vector<std::string>& overrides : rows) {
    const auto scenario = parse_text(example, overrides, files);
    ASSERT_TRUE(scenario) << scenario.error().what;
    EXPECT_EQ(scenario->name, "outage");
    EXPECT_EQ(scenario->events.size(), 2U) << "the cut and its end";
    EXPECT_EQ(scenario->expectations.size(), 2U);
    const auto configuration = configuration_of(*scenario);
    EXPECT_TRUE(configuration) << (configuration ? "" : configuration.error().what);
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
