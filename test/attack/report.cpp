#include "test/attack/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace holdfast::attack {
namespace {

struct Row {
  std::string name;
  std::string result;
  std::map<std::string, long> peaks;  // KiB
  std::string noted;
};

Row& present() {
  static Row row;
  return row;
}

std::string megabytes(const Row& row, const std::string& program) {
  const auto at = row.peaks.find(program);
  if (at == row.peaks.end()) return "-";
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f", static_cast<double>(at->second) / 1024);
  return text;
}

class Table final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestStart(const ::testing::TestInfo&) override { present() = {}; }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    Row row = present();
    row.name = test.name();
    row.result = test.result()->Skipped() ? "NOT RUN" : "held off";
    if (test.result()->Failed()) row.result = "SUCCEEDED";
    rows_.push_back(std::move(row));
  }
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    std::printf("\n%-58s %-10s %10s %10s\n", "attack", "result", "edge MiB", "cloud MiB");
    long edge = 0;
    long cloud = 0;
    for (Row& row : rows_) {
      std::printf("%-58s %-10s %10s %10s  %s\n", row.name.c_str(), row.result.c_str(),
                  megabytes(row, "holdfast-edge").c_str(), megabytes(row, "holdfast-cloud").c_str(),
                  row.noted.c_str());
      edge = std::max(edge, row.peaks["holdfast-edge"]);
      cloud = std::max(cloud, row.peaks["holdfast-cloud"]);
    }
    std::printf("peak of all: holdfast-edge %ld MiB of %ld, holdfast-cloud %ld MiB of %ld\n",
                edge / 1024, edge_budget / 1024, cloud / 1024, cloud_budget / 1024);
    (void)std::fflush(stdout);
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace

void note_peak(const std::string& program, long kib) {
  long& peak = present().peaks[program];
  peak = std::max(peak, kib);
}

long noted_peak(const std::string& program) { return present().peaks[program]; }

void note(const std::string& text) {
  std::string& noted = present().noted;
  noted += (noted.empty() ? "" : "; ") + text;
}

void install_report() { ::testing::UnitTest::GetInstance()->listeners().Append(new Table); }

}  // namespace holdfast::attack
