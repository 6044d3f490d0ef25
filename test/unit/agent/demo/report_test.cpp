// The parts of the report, and the drawing of a run.

#include "agent/lab/demo/report.h"

#include "agent/lab/cluster/children.h"
#include "agent/lab/demo/tracks.h"
#include "test/unit/agent/demo/good_run.h"

namespace holdfast::agent::demo {
namespace {

TEST(DemoReport, TracksFollowTheHistory) {
  const Timeline timeline = outage_timeline(good_run(), good_setup());
  const auto& tracks = timeline.tracks;
  std::vector<std::string> names;
  for (const Track& track : tracks) names.push_back(track.heading + "|" + track.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "edge-a|link", "|Ready",   "|taints", "|batch-3", "|web-a1",  "|web-a2",  //
                       "edge-b|link", "|Ready",   "|taints", "|batch-4", "|web-b1",              //
                       "edge-c|link", "|Ready",   "|taints", "|batch-1", "|batch-2", "|web-c1",  //
                       "|web-c2",     "|guarded", "|vip"}));
  const std::vector<Segment> killed = {
      {at(5), at(14), "process", "pid 11", "web-a1: process pid 11"},
      {at(15), at(42), "process again", "pid 15", "web-a1: process pid 15"}};
  EXPECT_EQ(tracks[4].segments, killed);
  const std::vector<Segment> evicted = {
      {at(5), at(20), "process", "pid 13", "web-b1: process pid 13"},
      {at(20), at(34), "process stale", "deleted, still running",
       "the cloud has deleted it; its process pid 13 ends later"}};
  EXPECT_EQ(tracks[10].segments, evicted);
  const std::vector<Segment> tainted = {{at(17), at(33), "taint-schedule", "NoSchedule",
                                         "node.kubernetes.io/unreachable:NoSchedule"}};
  EXPECT_EQ(tracks[2].segments, tainted);
  const std::vector<Shade> shades = {{"edge-a", at(10), at(30), "the link of edge-a is cut"},
                                     {"edge-b", at(10), at(30), "the link of edge-b is cut"}};
  EXPECT_EQ(timeline.shades, shades);
}

TEST(DemoReport, SitesHaveARowForEachNode) {
  const Timeline timeline = sites_timeline(good_run(), good_setup());
  EXPECT_EQ(timeline.from, at(42));
  EXPECT_EQ(timeline.to, at(70));
  std::vector<std::string> names;
  for (const Track& track : timeline.tracks) names.push_back(track.heading + "|" + track.name);
  EXPECT_EQ(names, (std::vector<std::string>{"site south|south-1", "|south-2", "|south-3",
                                             "site north|north-1", "|north-2", "|north-3"}));
  const std::string no_schedule = "node.kubernetes.io/unreachable:NoSchedule";
  const std::vector<Segment> evicted = {
      {at(43), at(51), "ready-True", "True", "Ready=True"},
      {at(51), at(60), "taint-execute", "NoExecute",
       "Ready=Unknown, " + no_schedule + ", node.kubernetes.io/unreachable:NoExecute"},
      {at(60), at(68), "ready-Unknown", "Unknown", "Ready=Unknown, " + no_schedule},
      {at(68), at(70), "ready-True", "True", "Ready=True"},
      {at(53), at(53) + std::chrono::milliseconds(400), "evicted", "",
       "web-app-south-1 is evicted"}};
  EXPECT_EQ(timeline.tracks[0].segments, evicted);
  const std::vector<Shade> shades = {
      {"site south", at(44), at(66), "the link of site south is cut"},
      {"site north", at(54), at(66), "the link of site north is cut"}};
  EXPECT_EQ(timeline.shades, shades);
}

TEST(DemoReport, NoSecondActIsNotDrawn) {
  EXPECT_TRUE(sites_timeline(History(), DemoSetup()).tracks.empty());
}

TEST(DemoReport, ThePageStandsAlone) {
  History history = good_run();
  history.marks[0].text = "<script>alert(1)</script>";
  const std::string page =
      report_page(history, good_setup(), {{"It holds", true, "a < b"}, {"It breaks", false, ""}});
  for (const char* wanted : {"edge-a", "edge-b", "edge-c", "It holds", "a &lt; b", "PASS", "FAIL",
                             "1 of 2 promises held", "--lease-duration", "&lt;script&gt;"}) {
    EXPECT_NE(page.find(wanted), page.npos) << wanted;
  }
  for (const char* foreign : {"<script", "src=", "@import", "url("}) {
    EXPECT_EQ(page.find(foreign), page.npos) << foreign;
  }
}

TEST(DemoReport, AnEmptyRunCanBeDrawn) {
  const std::string page = report_page(History(), DemoSetup(), {});
  EXPECT_NE(page.find("0 of 0 promises held"), page.npos);
}

TEST(DemoChildren, PortsAreFoundInTheirLogs) {
  const std::string log =
      "2026-11-21T01:02:03.004Z info serving node=a proxy_port=1 admin_port=2\n"
      "2026-11-21T01:02:04.004Z info other proxy_port=9\n"
      "2026-11-21T01:02:05.004Z info serving node=a proxy_port=3 admin_port=4\n";
  EXPECT_EQ(lab::cluster::find_logged(log, " serving ", "proxy_port"), "3");
  EXPECT_EQ(lab::cluster::find_logged(log, " serving ", "admin_port"), "4");
  EXPECT_EQ(lab::cluster::find_logged(log, " serving ", "port"), "");
  EXPECT_EQ(lab::cluster::find_logged("", " serving ", "port"), "");
}

}  // namespace
}  // namespace holdfast::agent::demo
