#include "agent/lab/demo/words.h"

namespace holdfast::agent::demo {

std::string seconds(DemoTime at) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(at).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace holdfast::agent::demo
