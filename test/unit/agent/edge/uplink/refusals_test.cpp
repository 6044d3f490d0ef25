// Each kind of request that the agent itself sends, refused in every way for ten minutes: how often
// it is sent, whether the rest goes on, and whether all is well soon after the refusals end. The
// table in agent/edge/README.md tells users how often that is.

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "agent/edge/route/answer.h"
#include "test/support/captured_log.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::refusals {
namespace {

using sync::autonomy::LinkState;

constexpr const char* nodes = "/api/v1/nodes";
constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* maps = "/api/v1/namespaces/a/configmaps";
constexpr const char* our_pods =
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0";

// One way to refuse.
struct Refusal {
  int status;  // 0: no answer
  const char* retry_after = "";
};
constexpr std::array<Refusal, 12> all_refusals{
    {{302}, {403}, {404}, {408}, {409}, {422}, {429}, {429, "30"}, {500}, {503}, {503, "30"}, {0}}};
// How often something was sent, for each of them.
using Counts = std::array<int, all_refusals.size()>;

std::string name_of(const Refusal& refusal) {
  const std::string status = refusal.status == 0 ? "no answer" : std::to_string(refusal.status);
  const std::string after = refusal.retry_after;
  return after.empty() ? status : status + " after " + after + " s";
}

struct RefusedFixture : UplinkFixture {
  RefusedFixture() {
    for (const char* name : {"one", "two"}) {
      cloud.put(pods, name, R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Running"}})");
    }
    cloud.put(maps, "m");
    servers[0]->special = [this](const http::Request& request) { return answer(request); };
    EXPECT_TRUE(until(LinkState::connected));
    EXPECT_EQ(ask(our_pods).status, 200);
    EXPECT_EQ(ask(std::string(maps) + "?resourceVersion=0").status, 200);
    EXPECT_EQ(ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
    time.run(30s);
  }

  std::optional<http::Response> answer(const http::Request& request) {
    if (refusal && refused(request)) {
      ++sent;
      http::Response no = json_response(refusal->status, "{}");
      if (*refusal->retry_after != '\0') no.headers.set("Retry-After", refusal->retry_after);
      return no;
    }
    if (request.method != http::Method::post || request.path() != nodes) return std::nullopt;
    if (!cloud.object(nodes, "edge1").empty()) return json_response(409, "{}");
    cloud.put(nodes, "edge1", "{}", "uid-2");
    return json_response(201, cloud.object(nodes, "edge1"));
  }

  http::Response ask_as_kubelet(http::Method method, const std::string& target,
                                const std::string& body) {
    http::Request request{.method = method, .target = target, .body = body};
    request.headers.add("User-Agent", "kubelet/v1");
    const bool patch = method == http::Method::patch;
    request.headers.add("Content-Type",
                        patch ? "application/strategic-merge-patch+json" : "application/json");
    return ask(request);
  }
  void report(const std::string& pod) {
    const std::string body =
        R"({"metadata":{"uid":"uid-)" + pod + R"("},"status":{"phase":"Failed"}})";
    const std::string target = std::string(pods) + "/" + pod + "/status";
    EXPECT_EQ(ask_as_kubelet(http::Method::patch, target, body).status, 200);
  }
  [[nodiscard]] bool reported(const std::string& pod) const {
    return cloud.object(pods, pod).find(R"("phase":"Failed")") != std::string::npos;
  }
  // Cuts the link, and restores it after `meanwhile`.
  void outage(const std::function<void()>& meanwhile = [] {}) {
    cut_link();
    meanwhile();
    servers[0]->restore();
  }

  std::function<bool(const http::Request&)> refused;
  std::optional<Refusal> refusal;
  bool says_nothing_of_the_write = false;  // no answer, 429 or 503
  int sent = 0;                            // requests that were refused
};

bool is_a(const http::Request& request, http::Method method, std::string_view path) {
  return request.method == method && request.path().ends_with(path);
}

struct Kind {
  std::string name;
  std::function<bool(const http::Request&)> refused;
  // Brings about that the request is sent, with the refusals in force.
  std::function<void(RefusedFixture&)> begin;
  // Whether all is well again.
  std::function<bool(RefusedFixture&)> well;
  Counts sent;           // in ten minutes, up to a fifth or two more or less
  const char* row = "";  // of the table in the README that names the largest of them
  Duration well_within = 6min;
};

bool lease_is_fresh(RefusedFixture& fixture) {
  const std::size_t before = fixture.cloud.renewals.size();
  fixture.time.run(21s);
  return fixture.cloud.renewals.size() > before;
}

bool shows_new_map(RefusedFixture& fixture) {
  fixture.cloud.put(maps, "new");
  fixture.time.run(2s);
  const http::Response list = fixture.ask(std::string(maps) + "?resourceVersion=0");
  return list.body.find("\"new\"") != std::string::npos;
}

void report_offline(RefusedFixture& fixture) {
  fixture.outage([&fixture] {
    for (const char* pod : {"one", "two"}) fixture.report(pod);
  });
}

void delete_node_offline(RefusedFixture& fixture) {
  fixture.outage([&fixture] {
    fixture.cloud.remove(nodes, "edge1");
    (void)fixture.cloud.collect_garbage();
  });
}

// What is not refused has arrived while the refusals lasted.
bool others_are_reported(RefusedFixture& fixture) { return fixture.reported("two"); }

// What was refused for a reason that says nothing about the write arrives, too.
bool all_are_reported(RefusedFixture& fixture) {
  EXPECT_TRUE(others_are_reported(fixture));
  return !fixture.says_nothing_of_the_write || fixture.reported("one");
}

bool has_node(RefusedFixture& fixture) { return !fixture.cloud.object(nodes, "edge1").empty(); }

const Kind kinds[] = {
    {"the lease's PATCH",
     [](const auto& request) { return is_a(request, http::Method::patch, "/leases/edge1"); },
     [](auto&) {},
     lease_is_fresh,
     {60, 60, 60, 60, 60, 60, 60, 30, 60, 60, 30, 23},
     "PATCH of the lease"},
    {"a list",
     [](const auto& request) {
       return is_a(request, http::Method::get, "/a/configmaps") &&
              request.query().find("watch=") == std::string_view::npos;
     },
     [](auto& fixture) { fixture.outage([&fixture] { fixture.cloud.compact(); }); },
     shows_new_map,
     {12, 5, 5, 12, 5, 5, 12, 12, 12, 12, 12, 11},
     "list of a scope"},
    {"a watch",
     [](const auto& request) {
       return is_a(request, http::Method::get, "/a/configmaps") &&
              request.query().find("watch=") != std::string_view::npos;
     },
     [](auto& fixture) { fixture.outage(); },
     shows_new_map,
     {42, 5, 5, 42, 5, 5, 42, 20, 10, 42, 20, 22},
     "watch of a scope"},
    {"a queued status",
     [](const auto& request) { return is_a(request, http::Method::patch, "/one/status"); },
     report_offline,
     all_are_reported,
     {8, 8, 1, 8, 1, 1, 15, 13, 8, 15, 13, 9},
     "queued write"},
    {"the read before a queued status",
     [](const auto& request) { return is_a(request, http::Method::get, "/pods/one"); },
     report_offline,
     all_are_reported,
     {8, 4, 1, 8, 1, 1, 15, 13, 8, 15, 13, 9},
     "queued write"},
    {"queued events, two of them",
     [](const auto& request) { return is_a(request, http::Method::post, "/events"); },
     [](auto& fixture) {
       fixture.outage([&fixture] {
         for (const char* name : {"e1", "e2"}) {
           const std::string body =
               R"({"metadata":{"name":")" + std::string(name) + R"(","namespace":"a"}})";
           const auto posted =
               fixture.ask_as_kubelet(http::Method::post, "/api/v1/namespaces/a/events", body);
           EXPECT_EQ(posted.status, 201);
         }
         fixture.report("two");
       });
     },
     others_are_reported,
     {16, 16, 2, 16, 2, 2, 30, 26, 16, 30, 26, 15}},
    {"the Node's registration",
     [](const auto& request) { return is_a(request, http::Method::post, "/nodes"); },
     delete_node_offline,
     has_node,
     {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
     "registration of a deleted Node"},
    {"the read of the Node",
     [](const auto& request) { return is_a(request, http::Method::get, "/nodes/edge1"); },
     delete_node_offline,
     has_node,
     {67, 67, 62, 67, 67, 67, 67, 36, 67, 67, 36, 79},
     "GET of the own Node"},
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

// The last cell of the row of the README's table that begins with `row`.
std::string last_cell(const std::string& row) {
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/agent/edge/README.md");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| " + row + " |")) continue;
    const std::size_t end = line.rfind(" |");
    const std::size_t begin = line.rfind("| ", end - 1) + 2;
    return line.substr(begin, end - begin);
  }
  return "no such row";
}

class Refused : public testing::TestWithParam<Kind> {};

TEST_P(Refused, RequestsAreNoFloodAndAllIsWellSoonAfterwards) {
  const Kind& kind = GetParam();
  for (std::size_t i = 0; i < all_refusals.size(); ++i) {
    const Refusal& refusal = all_refusals[i];
    SCOPED_TRACE(name_of(refusal));
    RefusedFixture fixture;
    fixture.refused = kind.refused;
    fixture.refusal = refusal;
    const int status = refusal.status;
    fixture.says_nothing_of_the_write = status == 0 || status == 429 || status == 503;
    kind.begin(fixture);
    fixture.time.run(10min);
    const int sent = fixture.sent;
    fixture.refusal.reset();
    const MonoTime end = fixture.time.clock().mono() + kind.well_within;
    bool well = kind.well(fixture);
    while (!well && fixture.time.clock().mono() < end) {
      fixture.time.run(10s);
      well = kind.well(fixture);
    }
    EXPECT_NEAR(sent, kind.sent[i], std::max(2, kind.sent[i] / 5));
    EXPECT_GE(sent, 1);
    EXPECT_TRUE(well);
    EXPECT_EQ(fixture.state(), LinkState::connected);
  }
}

TEST_P(Refused, RequestsAreAsManyAsTheReadmeSays) {
  const Kind& kind = GetParam();
  if (*kind.row == '\0') return;
  const int most = *std::max_element(kind.sent.begin(), kind.sent.end());
  const std::string cell = last_cell(kind.row) + " ";
  EXPECT_EQ(cell.substr(0, cell.find_first_of("; ,")), std::to_string(most)) << kind.row;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(RefusedLease, IsWarnedOfOnceAndNotBeforeTheNodeExists) {
  {
    test::CapturedLog log;
    UplinkFixture first_start;
    first_start.cloud.remove(nodes, "edge1");
    EXPECT_TRUE(first_start.until(LinkState::connected));
    first_start.time.run(1min);
    const std::string text = log.take();
    EXPECT_EQ(count_of(text, "does not renew"), 0) << text;
    EXPECT_EQ(count_of(text, "connected"), 1) << text;
  }

  RefusedFixture fixture;
  fixture.refused = [](const auto& request) {
    return is_a(request, http::Method::patch, "/leases/edge1");
  };
  test::CapturedLog captured;
  fixture.refusal = Refusal{403};
  fixture.time.run(5min);
  fixture.refusal.reset();
  fixture.time.run(1min);
  const std::string log = captured.take();
  EXPECT_EQ(count_of(log, "the API server does not renew the node's lease"), 1) << log;
  EXPECT_EQ(count_of(log, "the node's lease is renewed again"), 1) << log;
}

INSTANTIATE_TEST_SUITE_P(OfTheAgent, Refused, testing::ValuesIn(kinds), [](const auto& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.name) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (letter) name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = !letter;
  }
  return name;
});

}  // namespace
}  // namespace holdfast::agent::uplink::refusals
