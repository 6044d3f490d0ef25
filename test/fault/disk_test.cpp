// A disk that is full or broken, once or for a while: operations return errors, and the store works
// again afterwards.

#include "test/fault/scenarios.h"
#include "test/support/fault_vfs.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;
using test::DiskFault;

struct Trouble {
  std::string name;
  DiskFault fault;
  std::int64_t steps;
  bool tear;
  Errc code;

  friend std::ostream& operator<<(std::ostream& out, const Trouble& trouble) {
    return out << trouble.name;
  }
};

const std::int64_t lasting = test::FaultPlan{}.fail_steps;

const Trouble troubles[] = {
    {"full_once", DiskFault::full, 1, false, Errc::exhausted},
    {"full_for_long", DiskFault::full, lasting, true, Errc::exhausted},
    {"broken_once", DiskFault::broken, 1, true, Errc::unavailable},
    {"broken_for_long", DiskFault::broken, lasting, false, Errc::unavailable},
};

class DiskTest : public testing::TestWithParam<std::tuple<FaultScenarioKind, Trouble>> {
 protected:
  const FaultScenarioKind& kind() { return std::get<0>(GetParam()); }
  const Trouble& trouble() { return std::get<1>(GetParam()); }

  // Opens the scenario; if that fails, again after the trouble is over.
  std::unique_ptr<FaultScenario> open(const fs::path& file) {
    auto scenario = open_scenario(kind(), file, "fault");
    if (scenario) return std::move(scenario).value();
    meet(scenario.error());
    return value(open_scenario(kind(), file, "fault"));
  }

  void meet(const Error& error) {
    met_ = true;
    EXPECT_EQ(error.code, trouble().code) << error.what;
    test::follow({});  // there is room again
  }

  bool met_ = false;
};

TEST_P(DiskTest, WorksAgainWhenTheTroubleIsOver) {
  const std::vector<std::string> states = states_of(kind());
  bool reached = true;
  for (std::int64_t fail_from = 1; reached; fail_from += fault_stride) {
    SCOPED_TRACE("trouble from step " + std::to_string(fail_from));
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    met_ = false;
    test::follow({.fail_from = fail_from,
                  .fail_steps = trouble().steps,
                  .fault = trouble().fault,
                  .tear = trouble().tear});
    std::unique_ptr<FaultScenario> scenario = open(file);
    for (std::size_t number = 0; number < scenario_steps; ++number) {
      if (auto done = scenario->step(number); !done) {
        meet(done.error());
        ASSERT_EQ(value(scenario->state()), states[number]) << "a failed step was written partly";
        ASSERT_EQ(said(scenario->step(number)), "ok");
      }
    }
    EXPECT_EQ(value(scenario->state()), states.back());
    scenario.reset();  // closing writes as well, and cannot report errors
    reached = met_ || test::fault_counts().steps >= fail_from;
    test::follow({});
    EXPECT_EQ(value(value(open_scenario(kind(), file, "fault"))->state()), states.back());
  }
}

INSTANTIATE_TEST_SUITE_P(, DiskTest,
                         testing::Combine(testing::ValuesIn(scenario_kinds()),
                                          testing::ValuesIn(troubles)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace holdfast::store
