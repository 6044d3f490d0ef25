// `holdfast-lab proxy` and its client commands, over sockets.

#include "agent/lab/faults/proxy_command.h"

#include <algorithm>
#include <array>

#include "agent/lab/faults/proxy_set.h"
#include "platform/loop/tasks.h"
#include "platform/text.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::faults {
namespace {

asio::awaitable<void> serve_into(ProxySettings settings, loop::Stop& stop, const Clock& clock,
                                 Status& served) {
  served = co_await serve_proxies(std::move(settings), stop, clock);
}

asio::awaitable<void> call_into(ProxySettings settings, const Clock& clock, std::string& text) {
  const auto called = co_await call_proxies(std::move(settings), clock);
  text =
      called ? *called : std::string(to_string(called.error().code)) + ": " + called.error().what;
}

std::vector<std::string> words_of_line(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return words;
}

struct CommandFixture {
  explicit CommandFixture(std::vector<std::string> toxics = {}) {
    ProxySettings settings;
    settings.words = {"127.0.0.1:0", "127.0.0.1:7443"};
    settings.name = "edge-a";
    settings.toxics = std::move(toxics);
    settings.admin = admin;
    tasks.spawn("serve", serve_into(std::move(settings), stop, time.clock(), served));
    time.settle();
  }
  ~CommandFixture() {
    stop.request();
    time.run(std::chrono::seconds(6));
    EXPECT_TRUE(served) << served.error().what;
  }
  std::string call(std::string_view line) {
    ProxySettings settings;
    settings.words = words_of_line(line);
    settings.admin = admin;
    EXPECT_TRUE(is_client_command(settings));
    std::string text;
    time.complete(call_into(std::move(settings), time.clock(), text));
    return text;
  }
  // The last column of the table's second line.
  std::string toxics() {
    const std::string table = call("list");
    const auto lines = split(table, '\n');
    EXPECT_TRUE(lines[0].starts_with("NAME ") && lines[0].ends_with("  TOXICS")) << table;
    EXPECT_TRUE(lines[1].starts_with("edge-a  127.0.0.1:")) << table;
    const std::size_t state = lines[1].find("enabled  ");
    return std::string(lines[1].substr(state + 9));
  }

  test::VirtualTime time;
  std::string admin = "127.0.0.1:8474";
  loop::Stop stop{time.executor()};
  Status served;
  loop::Tasks tasks{time.executor()};
};

TEST(ProxyCommand, SetsListsAndClearsToxics) {
  CommandFixture fixture;
  EXPECT_EQ(fixture.toxics(), "-");
  EXPECT_EQ(fixture.call("set edge-a black_hole"), "edge-a: added black_hole\n");
  EXPECT_EQ(fixture.call("set edge-a latency latency=300 jitter=50 stream=upstream"),
            "edge-a: added latency latency=300 jitter=50 stream=upstream\n");
  EXPECT_EQ(fixture.call("set edge-a latency latency=100 stream=upstream"),
            "edge-a: changed latency latency=100 stream=upstream\n")
      << "attributes that are not given get their defaults";
  EXPECT_EQ(fixture.toxics(), "latency latency=100 stream=upstream, black_hole");
  EXPECT_EQ(fixture.call("clear edge-a latency"), "edge-a: removed latency_upstream\n");
  EXPECT_EQ(fixture.call("set edge-a slow-close delay=5 name=slow"),
            "edge-a: added slow_close delay=5 name=slow\n");
  EXPECT_EQ(fixture.call("clear edge-a"), "edge-a: removed slow, black_hole\n");
  EXPECT_EQ(fixture.call("clear edge-a"), "edge-a: has no toxics\n");
}

TEST(ProxyCommand, BeginsWithToxics) {
  CommandFixture fixture({"latency latency=300", "bandwidth rate=5 stream=upstream"});
  EXPECT_EQ(fixture.toxics(), "bandwidth rate=5 stream=upstream, latency latency=300");
}

// Sends bytes one by one over three connections and measures how long each takes.
asio::awaitable<void> measure_delays(net::Listener& server, net::HostPort proxy, const Clock& clock,
                                     std::vector<Duration>& delays) {
  const Duration limit = std::chrono::seconds(10);
  for (int number = 0; number < 3; ++number) {
    auto client = co_await net::connect(proxy, nullptr, clock.mono() + limit);
    EXPECT_TRUE(client) << client.error().what;
    if (!client) co_return;
    auto pending = co_await server.accept();
    EXPECT_TRUE(pending) << pending.error().what;
    if (!pending) co_return;
    auto accepted = co_await (*pending)->establish(clock.mono() + limit);
    EXPECT_TRUE(accepted) << accepted.error().what;
    if (!accepted) co_return;
    for (int byte = 0; byte < 5; ++byte) {
      const MonoTime began = clock.mono();
      std::array<char, 1> got{};
      const Status sent = co_await (*client)->write("x");
      EXPECT_TRUE(sent) << sent.error().what;
      const auto count = co_await (*accepted)->read_some(got);
      EXPECT_EQ(count.value_or(0), 1U);
      delays.push_back(clock.mono() - began);
    }
  }
}

// The delays through `proxy --seed` with a latency that varies.
std::vector<Duration> delays_with_seed(std::int64_t seed) {
  test::VirtualTime time;
  const net::HostPort target{"127.0.0.1", 7443};
  const net::HostPort proxy{"127.0.0.1", 7450};
  auto server = net::Listener::open(time.executor(), target, nullptr).value();
  ProxySettings settings;
  settings.words = {proxy.text(), target.text()};
  settings.toxics = {"latency latency=100 jitter=50 stream=upstream"};
  settings.seed = seed;
  loop::Stop stop(time.executor());
  Status served;
  loop::Tasks tasks(time.executor());
  tasks.spawn("serve", serve_into(std::move(settings), stop, time.clock(), served));
  time.settle();
  std::vector<Duration> delays;
  time.complete(measure_delays(*server, proxy, time.clock(), delays));
  stop.request();
  time.run(std::chrono::seconds(6));
  EXPECT_TRUE(served) << served.error().what;
  return delays;
}

TEST(ProxyCommand, TheSameSeedGivesTheSameDelays) {
  const std::vector<Duration> delays = delays_with_seed(7);
  ASSERT_EQ(delays.size(), 15U);
  const auto [least, most] = std::minmax_element(delays.begin(), delays.end());
  EXPECT_LT(*least, *most);
  EXPECT_EQ(delays_with_seed(7), delays);
  EXPECT_NE(delays_with_seed(8), delays);
}

TEST(ProxyCommand, SaysWhatIsWrong) {
  CommandFixture fixture({"timeout name=t"});
  const std::pair<std::string, std::string> rows[] = {
      {"set edge-b black_hole", "not_found: edge-b: proxy not found"},
      {"clear edge-b", "not_found: edge-b: proxy not found"},
      {"clear edge-a latency", "not_found: edge-a: no toxic \"latency\""},
      {"set edge-a latncy", "invalid: invalid toxic type: \"latncy\" is none of latency"},
      {"set edge-a latency delay=3", "invalid: latency: unknown attribute \"delay\""},
      {"set edge-a slow_close name=t", "invalid: edge-a: t is now timeout name=t; clear it first"},
      {"set edge-a", "invalid: use proxy list, "},
      {"set a/b black_hole", "invalid: bad name of a proxy"},
      {"clear", "invalid: use proxy list, "},
      {"list all", "invalid: use proxy list, "},
  };
  for (const auto& [line, error] : rows) {
    const std::string text = fixture.call(line);
    EXPECT_TRUE(text.starts_with(error)) << line << ": " << text;
  }
}

TEST(ProxyCommand, WithoutAProxyThereIsAHint) {
  test::VirtualTime time;
  ProxySettings settings;
  settings.words = {"list"};
  settings.admin = "127.0.0.1:8474";
  std::string text;
  time.complete(call_into(settings, time.clock(), text));
  EXPECT_TRUE(text.starts_with("unavailable: no proxy answers at " + settings.admin +
                               ", start one with holdfast-lab proxy LISTEN TARGET: "))
      << text;
}

TEST(ProxyCommand, LeavesDescriptorsForTheApi) {
  EXPECT_EQ(limits_within(1'000'000).connections, ProxyLimits().connections);
  EXPECT_EQ(limits_within(1024).connections, 287U);
  EXPECT_EQ(limits_within(10).connections, 1U);
}

TEST(ProxyCommand, WrongArgumentsAreRefused) {
  const struct {
    std::vector<std::string> words;
    std::vector<std::string> toxics;
    std::string admin;
    std::string error;
  } rows[] = {
      {{"127.0.0.1:0"}, {}, "127.0.0.1:0", "give LISTEN and TARGET"},
      {{}, {"black_hole"}, "127.0.0.1:0", "give LISTEN and TARGET"},
      {{"nowhere", "a:1"}, {}, "127.0.0.1:0", "LISTEN: not HOST:PORT"},
      {{"127.0.0.1:0", "a"}, {}, "127.0.0.1:0", "TARGET: not HOST:PORT"},
      {{"127.0.0.1:0", "a:1"}, {"latency x=1"}, "127.0.0.1:0", "--toxic: latency: unknown"},
      {{"127.0.0.1:0", "a:1"}, {"refuse", "refuse"}, "127.0.0.1:0", "toxic already exists"},
      {{"127.0.0.1:0", "a:1"}, {}, "0.0.0.0:0", "listens on loopback only"},
      {{"127.0.0.1:0", "a:1"}, {}, "8474", "--admin: not HOST:PORT"},
  };
  for (const auto& row : rows) {
    test::VirtualTime time;
    loop::Stop stop(time.executor());
    Status served;
    ProxySettings settings;
    settings.words = row.words;
    settings.toxics = row.toxics;
    settings.admin = row.admin;
    time.complete(serve_into(std::move(settings), stop, time.clock(), served));
    ASSERT_FALSE(served) << row.error;
    EXPECT_NE(served.error().what.find(row.error), std::string::npos) << served.error().what;
  }
  EXPECT_EQ(parse_admin("localhost:1").value().text(), "127.0.0.1:1");
  EXPECT_EQ(parse_admin("[::1]:1").value().text(), "[::1]:1");
}

TEST(ProxyCommand, TheApiIsOnToxiproxysPortOfLoopbackByDefault) {
  ProxySettings settings;
  config::Options options("lab", "");
  add_proxy_options(options, settings);
  const char* const words[] = {"lab", "proxy", "list"};
  ASSERT_TRUE(options.parse(3, words));
  EXPECT_EQ(settings.admin, "127.0.0.1:8474");
}

}  // namespace
}  // namespace holdfast::agent::faults
