#include "agent/lab/demo/words.h"

namespace holdfast::agent::demo {

std::string seconds(DemoTime at) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(at).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string plural(std::size_t count, const std::string& noun) {
  const char* ending = noun.ends_with('s') ? "es" : "s";
  return std::to_string(count) + " " + noun + (count == 1 ? "" : ending);
}

}  // namespace holdfast::agent::demo
