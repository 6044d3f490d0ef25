// The output of the running demo: lines of the script with their time and, if the output is a
// terminal, a table of the current state below them that is redrawn on changes.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/cluster_snapshot.h"

namespace holdfast::agent::demo {

// "12.3s", right-aligned to seven characters.
[[nodiscard]] std::string clock_text(DemoTime at);

// A line per node: link, Ready, taints, pods, unsent writes.
[[nodiscard]] std::vector<std::string> table(const ClusterSnapshot& snapshot,
                                             const std::vector<std::string>& nodes);

class Screen {
 public:
  // Finds out whether standard output is a terminal.
  Screen();

  void title(const std::string& text);
  // An action or an observation.
  void say(DemoTime at, const std::string& text);
  // An explanation, indented below the previous line.
  void why(const std::string& text);
  void result(const CheckResult& result);
  // Redraws the table. Does nothing if the output is not a terminal.
  void show(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes);
  // Removes the table.
  void hide();

 private:
  void line(const std::string& text);

  bool terminal_;
  std::size_t shown_ = 0;  // lines of the table on the screen
  std::vector<std::string> table_;
};

}  // namespace holdfast::agent::demo
