// holdfast-attack: attacks the programs in a folder and reports which attacks succeeded.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "test/attack/program.h"
#include "test/attack/relay.h"
#include "test/attack/report.h"

int main(int argc, char** argv) {
  using namespace holdfast::attack;
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (argc == 4 && std::string_view(argv[1]) == "--relay") {
    return relay(static_cast<std::uint16_t>(std::atoi(argv[2])),
                 static_cast<std::uint16_t>(std::atoi(argv[3])));
  }
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--bin" && i + 1 < argc) {
      bin_dir() = argv[++i];
    } else {
      (void)std::fprintf(stderr, "usage: holdfast-attack [--bin DIR] [--gtest_filter=...]\n");
      return 2;
    }
  }
  install_report();
  return RUN_ALL_TESTS();
}
