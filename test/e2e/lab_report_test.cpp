// Opens the HTML report of `holdfast-lab report` in Chromium and clicks in it.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "agent/lab/result/json.h"
#include "test/e2e/run_program.h"
#include "test/support/fleet_result.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

const std::string probe_begin = "<pre id=\"probe\">";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Makes the report with the program and opens it together with the probe, whose findings it
// returns. `width` is the page's.
json::value probe_report(const agent::lab::RunResult& result, int width) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "result.json";
  const auto report = scratch.path() / "report.html";
  EXPECT_TRUE(fs::atomic_write(file, agent::lab::result_to_json(result)));
  const std::string lab = std::string(HOLDFAST_BIN_DIR) + "/holdfast-lab";
  const test::Ended made = test::run_program(
      {lab, "report", file.string(), "--report", report.string()}, scratch.path() / "lab.log", 30s);
  EXPECT_TRUE(made.in_time);
  EXPECT_EQ(made.exit, proc::ExitStatus()) << made.output;

  // The page's policy forbids foreign scripts, so the probe comes before it.
  std::string page = fs::read_all(report, 16UL << 20).value_or("");
  EXPECT_LT(page.size(), 5'000'000U);
  const auto probe =
      fs::read_all(std::string(HOLDFAST_SOURCE_ROOT) + "/test/e2e/lab_report_probe.js", 1UL << 20);
  const std::size_t head = page.find("<head>");
  if (!probe || head == page.npos) return {};
  page.insert(head + 6, "<script>" + *probe + "</script>");
  EXPECT_TRUE(fs::atomic_write(report, page));

  // Windows are at least 500 pixels wide, frames are not.
  const auto around = scratch.path() / "around.html";
  EXPECT_TRUE(fs::atomic_write(
      around,
      "<body><script>onmessage = (event) => { const probe = document.createElement('pre');"
      "probe.id = 'probe'; probe.textContent = event.data; document.body.append(probe); };"
      "</script><iframe src=\"report.html\" style=\"border:0;height:1000px;width:" +
          std::to_string(width) + "px\"></iframe>"));

  std::vector<std::string> browser = test::chromium_command(scratch.path() / "chromium");
  browser.insert(browser.end(), {"--window-size=1400,1100", "--virtual-time-budget=4000",
                                 "--dump-dom", "file://" + around.string()});
  const test::Ended shown =
      test::run_program(std::move(browser), scratch.path() / "chromium.log", 300s);
  EXPECT_TRUE(shown.in_time);
  EXPECT_EQ(shown.output.find("CONSOLE"), std::string::npos) << shown.output;
  const std::size_t at = shown.output.rfind(probe_begin);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no probe in " << shown.output.substr(0, 2000);
    return {};
  }
  const std::size_t from = at + probe_begin.size();
  std::string found = shown.output.substr(from, shown.output.find("</pre>", from) - from);
  for (const auto& [escaped, plain] :
       std::map<std::string, std::string>{{"&lt;", "<"}, {"&gt;", ">"}}) {
    replace_all(found, escaped, plain);
  }
  replace_all(found, "&amp;", "&");
  return json::parse(found);
}

void expect_no_overlaps(const json::object& found) {
  for (const char* step : {"start", "fault", "dragged", "zoomed", "node", "end"}) {
    ASSERT_TRUE(found.contains(step)) << json::value(found);
    EXPECT_EQ(found.at(step).at("overlaps"), json::array()) << step;
  }
  EXPECT_GT(found.at("labels").as_int64(), 10);
  EXPECT_EQ(found.at("wide"), json::value(true));
}

TEST(LabReport, ZoomsToTimesSitesAndNodes) {
  for (const int width : {1280, 400}) {
    const json::value value = probe_report(test::fleet_result({}), width);
    ASSERT_TRUE(value.is_object());
    const json::object& found = value.get_object();
    ASSERT_FALSE(found.contains("error")) << value;
    expect_no_overlaps(found);
    EXPECT_EQ(found.at("viewport"), width);
    const auto range = [&found](const char* step) { return found.at(step).at("range"); };
    EXPECT_EQ(range("start"), "0s to 2h");
    EXPECT_EQ(range("fault"), "0s to 1h22m15s");
    EXPECT_EQ(range("dragged"), "1h to 1h30m");
    EXPECT_EQ(range("zoomed"), "1h7m30s to 1h22m30s");
    EXPECT_EQ(range("end"), "0s to 2h");
    EXPECT_EQ(found.at("zoomed").at("address"), "#from=4050.00&to=4950.00");
    EXPECT_EQ(found.at("start").at("nodes"), 6);
    EXPECT_EQ(found.at("node").at("nodes"), 1);
    EXPECT_EQ(found.at("node").at("first"), "site-1-2");
    EXPECT_EQ(found.at("node").at("address"), "#node=site-1-2");
    EXPECT_GT(found.at("story").as_int64(), 5);
    EXPECT_EQ(found.at("end").at("nodes"), 6);
    for (const char* step : {"isSecond", "opens", "closes"}) {
      EXPECT_EQ(found.at(step), json::value(true)) << step;
    }
  }
}

TEST(LabReport, Shows10000NodesBySite) {
  const json::value value =
      probe_report(test::fleet_result({.sites = 40, .nodes_per_site = 250}), 1280);
  ASSERT_TRUE(value.is_object());
  const json::object& found = value.get_object();
  ASSERT_FALSE(found.contains("error")) << value;
  expect_no_overlaps(found);
  EXPECT_EQ(found.at("start").at("nodes"), 8);
  EXPECT_LT(found.at("elements").as_int64(), 5000);
}

// Names that are markup are shown as text, and the page works as it does with other names.
TEST(LabReport, ShowsHostileNamesAsText) {
  agent::lab::RunResult result = test::fleet_result({});
  const std::string attack = "</script><img src=x onerror=document.title='hacked'>";
  for (auto& node : result.nodes) node.name += attack;
  for (auto& pod : result.pods) {
    pod.node += attack;
    pod.name += attack;
  }
  result.nodes[0].link[0].state = attack;
  const json::value value = probe_report(result, 1280);
  ASSERT_TRUE(value.is_object());
  const json::object& found = value.get_object();
  ASSERT_FALSE(found.contains("error")) << value;
  EXPECT_EQ(found.at("start").at("first"), json::value("site-1-1" + attack));
  EXPECT_EQ(found.at("title"), "Holdfast: outage");
  EXPECT_EQ(found.at("images"), 0);
}

}  // namespace
}  // namespace holdfast
