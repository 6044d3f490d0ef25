// Kills the agent with SIGKILL at random moments under write load while offline: no write that it
// acknowledged may be lost.
//
// HOLDFAST_KILLS sets the number of kills, HOLDFAST_SEED the random moments.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "platform/loop/timer.h"
#include "platform/random.h"
#include "platform/text.h"
#include "test/e2e/edge_bench.h"
#include "test/support/system_loop.h"

namespace holdfast::test {
namespace {

using http::Method;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : parse_int<std::uint64_t>(text).value_or(otherwise);
}

// A client that writes continuously and remembers which writes were acknowledged.
class Writer {
 public:
  explicit Writer(std::uint16_t port) : port_(port) {}

  // Writes until the agent is gone. It is killed `moment` after it has acknowledged the first
  // write.
  void write_until_killed(const EdgeBench& bench, Duration moment) {
    SystemLoop context;
    std::optional<loop::Timer> killer;
    on_acknowledged_ = [&killer, &context, &bench, moment] {
      if (killer) return;
      killer.emplace(context.get_executor(), now() + moment);
      killer->async_wait([&bench](const boost::system::error_code&) { bench.agent->kill(); });
    };
    asio::co_spawn(context, write(), asio::detached);
    context.run();
    EXPECT_TRUE(killer) << "no write was acknowledged";
  }

  // The counters of the last acknowledged write and of the last one sent. The stored counter must
  // be in this range.
  struct Span {
    std::uint64_t acknowledged = 0;
    std::uint64_t sent = 0;
  };
  std::map<std::string, Span> statuses;
  std::set<std::string> events;
  std::uint64_t last_version = 0;
  std::uint64_t writes = 0;

 private:
  asio::awaitable<void> write() {
    http::Client client({.at = {"127.0.0.1", port_}});
    for (;;) {
      ++counter_;
      const std::string targets[] = {pod_path("p0"), pod_path("p1"), nodes + "/edge-a",
                                     pod_path("p2"), "event"};
      const std::string& target = targets[counter_ % 5];
      const std::string text = std::to_string(counter_);
      Ask ask{.method = Method::patch,
              .target = target + "/status",
              .body = target.starts_with(nodes) ? kernel(text) : phase(text)};
      if (target == "event") {
        ask = {.method = Method::post,
               .target = "/api/v1/namespaces/ns/events",
               .body = R"({"metadata":{"name":"e)" + text +
                       R"("},"involvedObject":{"kind":"Pod","namespace":"ns","name":"p0"}})"};
      } else {
        statuses[target].sent = counter_;
      }
      http::Request request = to_request(ask);
      const auto answer = co_await client.send(std::move(request), now() + 10s);
      if (!answer) co_return;
      EXPECT_EQ(answer->status / 100, 2) << answer->body;
      if (answer->status / 100 == 2) acknowledge(target, text, *answer);
    }
  }

  void acknowledge(const std::string& target, const std::string& text,
                   const http::Response& answer) {
    ++writes;
    on_acknowledged_();
    if (target == "event") {
      events.insert("e" + text);
      return;
    }
    statuses[target].acknowledged = counter_;
    const Answer parsed{.status = answer.status, .body = answer.body};
    const std::uint64_t version = std::stoull(parsed.text({"metadata", "resourceVersion"}));
    EXPECT_GT(version, last_version);
    last_version = version;
  }

  std::uint16_t port_;
  std::uint64_t counter_ = 0;
  std::function<void()> on_acknowledged_;
};

void expect_kept(const Writer& writer, const std::function<Answer(const std::string&)>& read) {
  for (const auto& [target, span] : writer.statuses) {
    const Answer answer = read(target);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const bool of_node = target.starts_with(nodes);
    const std::string text = of_node ? kernel_of(answer) : answer.text({"status", "phase"});
    const auto counter = parse_int<std::uint64_t>(text).value_or(0);
    EXPECT_GE(counter, span.acknowledged) << target;
    EXPECT_LE(counter, span.sent) << target;
  }
}

class EdgeKill : public ::testing::Test, public EdgeBench {};

TEST_F(EdgeKill, NothingAcceptedIsLostWhateverTheMoment) {
  const std::uint64_t kills = number_from("HOLDFAST_KILLS", 60);
  const std::uint64_t seed =
      number_from("HOLDFAST_SEED", Random::from_entropy().next() % 1'000'000);
  std::cout << "HOLDFAST_SEED=" << seed << " HOLDFAST_KILLS=" << kills << std::endl;
  Random random(seed);
  start_server();
  make_node();
  for (const char* name : {"p0", "p1", "p2"}) make_pod(name);
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  warm({node_pods, own_node});
  server->kill();
  ASSERT_TRUE(wait_for_link("offline"));

  Writer writer(agent_port);
  std::uint64_t list_version = 0;
  for (std::uint64_t round = 0; round < kills && !HasFailure(); ++round) {
    const Duration moment = std::chrono::microseconds(random.below(30'000));
    writer.write_until_killed(*this, moment);
    // Sometimes the agent is killed again before it starts serving.
    if (random.below(8) == 0) {
      launch_agent();
      const MonoTime until = now() + random.jitter(20ms);
      (void)eventually(until - now(), [] { return false; });
    }
    launch_agent();
    ASSERT_TRUE(eventually(60s, [this] { return agent_ready(); }))
        << "round " << round << ": " << get(admin_port, "/readyz").body;
    expect_kept(writer, [this](const std::string& target) { return get(agent_port, target); });
    const std::string version = get(agent_port, node_pods).text({"metadata", "resourceVersion"});
    EXPECT_GE(std::stoull(version), list_version) << "round " << round;
    list_version = std::stoull(version);
  }
  std::cout << writer.writes << " writes were acknowledged" << std::endl;
  EXPECT_GE(writer.writes, kills);

  start_server();
  ASSERT_TRUE(wait_for_link("connected", 60s));
  expect_kept(writer, [this](const std::string& target) { return get_on_server(target); });
  EXPECT_EQ(admin("/v1/status").at("outbox").at("entries").as_int64(), 0);
  const json::value found = get_on_server("/api/v1/namespaces/ns/events").value();
  std::set<std::string> names;
  for (const json::value& event : found.at("items").as_array()) {
    const std::string name(event.at("metadata").at("name").as_string());
    EXPECT_TRUE(names.insert(name).second);
  }
  for (const std::string& name : writer.events) EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(journal("write-conflict"), std::vector<std::string>{});
  EXPECT_EQ(journal("write-rejected"), std::vector<std::string>{});
  EXPECT_EQ(journal("write-damaged"), std::vector<std::string>{});
}

}  // namespace
}  // namespace holdfast::test
