#include "agent/lab/up/view_text.h"

#include <gtest/gtest.h>

#include "agent/lab/up/view_json.h"

namespace holdfast::agent::lab::up {
namespace {

using namespace std::chrono_literals;

View outage() {
  View view{.age = 192s, .kubeconfig = "/tmp/lab/kubeconfig", .control = "127.0.0.1:7445"};
  view.nodes = {{.name = "edge-1",
                 .site = "edge",
                 .link = {"up"},
                 .ready = {"True"},
                 .agent = {"connected"},
                 .lease_age = 3500ms,
                 .unsent = 0,
                 .pods = 2,
                 .pods_ready = 2},
                {.name = "edge-2",
                 .site = "edge",
                 .link = {"cut", Tone::bad},
                 .ready = {"Unknown", Tone::bad},
                 .agent = {"offline", Tone::bad},
                 .lease_age = 49s,
                 .unsent = 4,
                 .pods = 1,
                 .pods_ready = 0,
                 .taints = {"unreachable:NoExecute", "unreachable:NoSchedule"}},
                {.name = "spare", .link = {"-"}, .ready = {"-"}, .agent = {"-"}}};
  view.pods = {{.name = "default/web-1",
                .uid = "1",
                .node = "edge-1",
                .state = {"Running"},
                .ready = true,
                .restarts = 0},
               {.name = "default/web-2",
                .uid = "2",
                .node = "edge-2",
                .state = {"Running"},
                .ready = false,
                .restarts = 3},
               {.name = "shop/till", .uid = "3", .state = {"Pending", Tone::soon}}};
  view.upcoming = {{.in = 288s,
                    .what = "evict default/web-2 from edge-2",
                    .reason = "unreachable, tolerated for 5m0s"},
                   {.when = Upcoming::When::waiting, .what = "evict shop/a", .reason = "limit"},
                   {.when = Upcoming::When::withheld,
                    .what = "evict default/web-1 from edge-1",
                    .reason = "autonomous"}};
  view.events = {{130s, "cut edge-2"}, {180s, "edge-2: Ready True -> Unknown"}};
  return view;
}

TEST(UpViewText, ShowsEverythingOnPaper) {
  EXPECT_EQ(view_text(outage(), {}),
            R"(holdfast-lab up, 3m12s: 1 of 3 nodes Ready
export KUBECONFIG=/tmp/lab/kubeconfig

NODE    SITE  LINK  READY    AGENT      LEASE  PODS  UNSENT  TAINTS
edge-1  edge  up    True     connected  3s     2/2   0       -
edge-2  edge  cut   Unknown  offline    49s    0/1   4       unreachable:NoExecute )"
            R"(unreachable:NoSchedule
spare   -     -     -        -          -      0/0   -       -

UPCOMING  WHAT                             WHY
in 4m48s  evict default/web-2 from edge-2  unreachable, tolerated for 5m0s
waiting   evict shop/a                     limit
withheld  evict default/web-1 from edge-1  autonomous

POD            NODE    STATE    READY  RESTARTS
default/web-1  edge-1  Running  yes    0
default/web-2  edge-2  Running  no     3
shop/till      -       Pending  no     0

AT     EVENT
2m10s  cut edge-2
3m0s   edge-2: Ready True -> Unknown
)");
}

TEST(UpViewText, SaysWhereThereIsNothing) {
  EXPECT_EQ(view_text({.age = 1s, .kubeconfig = "k"}, {}),
            R"(holdfast-lab up, 1s: 0 of 0 nodes Ready
export KUBECONFIG=k

NODE  SITE  LINK  READY  AGENT  LEASE  PODS  UNSENT  TAINTS
none

UPCOMING  WHAT  WHY
none

POD   NODE  STATE  READY  RESTARTS
none

AT    EVENT
none
)");
}

// Each section gets a line in turn. Of nodes and pods those in trouble stay, of events the last.
TEST(UpViewText, FitsIntoASmallTerminal) {
  EXPECT_EQ(view_text(outage(), {.width = 44, .height = 16}),
            R"(holdfast-lab up, 3m12s: 1 of 3 nodes Ready
export KUBECONFIG=/tmp/lab/kubeconfig

NODE        SITE  LINK  READY    AGENT   ...
edge-2      edge  cut   Unknown  offline ...
and 2 more

UPCOMING    WHAT                         ...
in 4m48s    evict default/web-2 from edge...
and 2 more

POD         NODE  STATE  READY  RESTARTS
and 3 more

AT    EVENT
3m0s  edge-2: Ready True -> Unknown)");
}

TEST(UpViewText, AnyTerminalIsLargeEnough) {
  const View view = outage();
  for (std::size_t height = 1; height < 40; ++height) {
    for (std::size_t width = 1; width < 60; ++width) {
      const std::string text = view_text(view, {.width = width, .height = height});
      std::size_t lines = 1;
      std::size_t column = 0;
      for (const char c : text) {
        column = c == '\n' ? 0 : column + 1;
        if (c == '\n') ++lines;
        ASSERT_LE(column, width) << text;
      }
      ASSERT_LE(lines, height) << text;
    }
  }
}

TEST(UpViewText, OneColourHasOneMeaning) {
  View view{.age = 1s, .kubeconfig = "k"};
  view.nodes = {{.name = "a-1",
                 .site = "a",
                 .link = {"cut", Tone::bad},
                 .ready = {"True"},
                 .agent = {"suspect", Tone::soon}}};
  const std::string text = view_text(view, {.colours = true});
  EXPECT_EQ(text.substr(0, text.find("\n\n\x1b[2mPOD")),
            "holdfast-lab up, 1s: 1 of 1 nodes Ready\n"
            "export KUBECONFIG=k\n\n"
            "\x1b[2mNODE  \x1b[0m\x1b[2mSITE  \x1b[0m\x1b[2mLINK  \x1b[0m\x1b[2mREADY  \x1b[0m"
            "\x1b[2mAGENT    \x1b[0m\x1b[2mLEASE  \x1b[0m\x1b[2mPODS  \x1b[0m\x1b[2mUNSENT  "
            "\x1b[0m\x1b[2mTAINTS\x1b[0m\n"
            "a-1   a     \x1b[31mcut   \x1b[0mTrue   \x1b[33msuspect  \x1b[0m-      0/0   -       "
            "-\n\n\x1b[2mUPCOMING  \x1b[0m\x1b[2mWHAT  \x1b[0m\x1b[2mWHY\x1b[0m\nnone");
}

TEST(UpViewText, NamesCannotControlTheTerminal) {
  View view{.age = 1s, .kubeconfig = "k\x1b[2J"};
  view.nodes = {{.name = "a\x1b]0;x\x07", .link = {"up\n"}, .ready = {"\x9b"}, .agent = {"\r"}}};
  view.pods = {{.name = "p\x1b[H", .uid = "u", .node = "\b", .state = {"\x1b"}}};
  view.upcoming = {{.what = "\x1b", .reason = "\x1b"}};
  view.events = {{1s, "\x1b"}};
  for (const char c : view_text(view, {})) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f')) << static_cast<int>(c);
  }
}

TEST(UpViewJson, HasAllFields) {
  View view = outage();
  view.nodes.erase(view.nodes.begin());
  view.nodes.pop_back();
  view.pods.resize(1);
  view.events.resize(1);
  EXPECT_EQ(
      sync::wire::serialize(json_of(view)),
      R"({"age":192,"kubeconfig":"/tmp/lab/kubeconfig","control":"127.0.0.1:7445","nodes":[)"
      R"({"name":"edge-2","site":"edge","link":"cut","ready":"Unknown","agent":"offline","pods":1,)"
      R"("podsReady":0,"taints":["unreachable:NoExecute","unreachable:NoSchedule"],"leaseAge":49,)"
      R"("unsent":4}],"pods":[{"name":"default/web-1","uid":"1","node":"edge-1",)"
      R"("state":"Running","ready":true,"restarts":0}],"upcoming":[)"
      R"({"what":"evict default/web-2 from edge-2","reason":"unreachable, tolerated for 5m0s",)"
      R"("in":288},{"what":"evict shop/a","reason":"limit","waiting":true},)"
      R"({"what":"evict default/web-1 from edge-1","reason":"autonomous","withheld":true}],)"
      R"("events":[{"at":130,"text":"cut edge-2"}]})");
}

}  // namespace
}  // namespace holdfast::agent::lab::up
