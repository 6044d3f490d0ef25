#include "test/bench/table.h"

#include <cstdio>

namespace holdfast::bench {

void print(const std::string& what, const std::string& ours, const std::string& budget,
           const std::string& theirs) {
  (void)std::printf("%-44s  %-20s  %-24s  %s\n", what.c_str(), ours.c_str(), budget.c_str(),
                    theirs.c_str());
  (void)std::fflush(stdout);
}

}  // namespace holdfast::bench
