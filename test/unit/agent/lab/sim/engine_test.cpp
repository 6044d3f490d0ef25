// What the engine keeps of the trace.

#include "agent/lab/sim/engine.h"

#include <gtest/gtest.h>

#include "agent/lab/result/table.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::seconds;

TEST(SimEngine, AViolationEndsTheRunAndShowsTheLast50Events) {
  Engine engine(1);
  for (int number = 1; number <= 70; ++number) {
    engine.after(seconds(number), [&engine, number] {
      if (number == 60) engine.violate("a pod runs once", "web-1 runs twice");
      if (number != 60) engine.trace("a-1", "event " + std::to_string(number));
    });
  }
  engine.run_until(Engine::start + std::chrono::hours(1));
  EXPECT_EQ(engine.events(), 60U);
  std::vector<std::string> last;
  for (int number = 11; number <= 59; ++number) {
    last.push_back(std::to_string(number) + "s a-1 event " + std::to_string(number));
  }
  last.emplace_back("1m0s VIOLATION a pod runs once: web-1 runs twice");
  const Violation expected{.at = seconds(60),
                           .invariant = "a pod runs once",
                           .what = "web-1 runs twice",
                           .last_events = last};
  EXPECT_EQ(engine.violation(), expected);

  RunResult result;
  result.violation = expected;
  std::string shown = "VIOLATION after 1m\n  a pod runs once: web-1 runs twice\nlast events:\n";
  for (const std::string& line : last) shown += "  " + line + "\n";
  const std::string table = result_table(result);
  EXPECT_EQ(table.substr(table.find("VIOLATION after")), shown);
}

}  // namespace
}  // namespace holdfast::agent::lab::sim
