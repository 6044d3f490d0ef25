// holdfast-attack: attacks the programs in a folder and reports which attacks succeeded.

#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "test/attack/program.h"
#include "test/attack/relay.h"
#include "test/attack/report.h"

namespace {

using holdfast::attack::bin_dir;

// 0 if `text` is no port.
std::uint16_t port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() ? port : std::uint16_t{0};
}

int wrong_usage(const char* problem, const char* word) {
  (void)std::fprintf(stderr,
                     "holdfast-attack: %s: %s\n"
                     "usage: holdfast-attack [--bin DIR] [--gtest_filter=...]\n",
                     problem, word);
  return 2;
}

int run_relay(int argc, char** argv) {
  if (argc != 4) return wrong_usage("expected two ports after", "--relay");
  const std::uint16_t from = port_of(argv[2]);
  const std::uint16_t to = port_of(argv[3]);
  if (from == 0) return wrong_usage("not a port", argv[2]);
  if (to == 0) return wrong_usage("not a port", argv[3]);
  return holdfast::attack::relay(from, to);
}

// The programs that the attacks start.
int check_programs() {
  for (const char* const name :
       {"holdfast-cloud", "holdfast-edge", "holdfast-lab", "holdfast-node"}) {
    const std::filesystem::path program = std::filesystem::path(bin_dir()) / name;
    std::error_code ec;
    if (!std::filesystem::is_regular_file(program, ec)) {
      return wrong_usage("there is no program", program.c_str());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace holdfast::attack;
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == "--relay") return run_relay(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--bin" && i + 1 < argc) {
      bin_dir() = argv[++i];
    } else if (std::string_view(argv[i]) == "--bin") {
      return wrong_usage("expected a folder after", argv[i]);
    } else {
      return wrong_usage("unknown argument", argv[i]);
    }
  }
  // A list of the attacks needs no programs.
  if (!GTEST_FLAG_GET(list_tests) && check_programs() != 0) return 2;
  install_report();
  return RUN_ALL_TESTS();
}
