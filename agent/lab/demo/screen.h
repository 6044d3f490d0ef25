// What the demo shows while it runs: lines of the story with their time, and under them, when the
// output is a terminal, a table of the present that is drawn anew as things change.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/scene.h"

namespace holdfast::agent::demo {

// "12.3s", right-aligned to seven characters.
[[nodiscard]] std::string clock_text(At at);

// A line per node: link, Ready, taints, pods, unsent writes.
[[nodiscard]] std::vector<std::string> table(const Scene& scene,
                                             const std::vector<std::string>& nodes);

class Screen {
 public:
  // Finds out whether standard output is a terminal.
  Screen();

  void title(const std::string& text);
  // A deed or a thing seen.
  void say(At at, const std::string& text);
  // Why it matters; indented under what was said before.
  void why(const std::string& text);
  void verdict(const Verdict& verdict);
  // Nothing unless this is a terminal.
  void show(const Scene& scene, const std::vector<std::string>& nodes);
  void hide();

 private:
  void line(const std::string& text);

  bool terminal_;
  std::size_t shown_ = 0;  // lines of the table on the screen
  std::vector<std::string> table_;
};

}  // namespace holdfast::agent::demo
