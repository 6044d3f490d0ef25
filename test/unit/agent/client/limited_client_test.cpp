// The rate limits and retries of the client, with a server on loopback in virtual time.

#include "agent/client/limited_client.h"

#include "platform/http/server.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

TEST(RetryPolicy, ObeysRetryAfterWithinBounds) {
  const RetryPolicy policy;
  const struct {
    int status;
    const char* header;
    std::optional<Duration> pause;
  } rows[] = {{429, "5", 5s},    {429, "0", 1s},  {429, "100000", 60s}, {429, "", std::nullopt},
              {429, "soon", {}}, {503, "2", 2s},  {503, "", {}},        {500, "2", {}},
              {200, "2", {}},    {429, "-1", {}}, {409, "1", {}}};
  for (const auto& row : rows) {
    http::Response response{.status = row.status};
    if (*row.header != 0) response.headers.set("Retry-After", row.header);
    EXPECT_EQ(pause_of(response, policy), row.pause) << row.status << " " << row.header;
  }
}

http::Response budget_refusal() {
  http::Response response{.status = 429};
  response.headers.set("Retry-After", "10");
  response.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":429,)"
                  R"("reason":"TooManyRequests","details":{"causes":[)"
                  R"({"reason":"DisruptionBudget","message":"m"}]}})";
  return response;
}

TEST(RetryPolicy, ABudgetIsNotAboutUs) { EXPECT_EQ(pause_of(budget_refusal(), {}), std::nullopt); }

// A server that records the times of its requests and answers from a list, then with 200.
class LimitedClientFixture : public WritePermit {
 public:
  LimitedClientFixture(asio::any_io_executor executor, const Clock& clock, RequestLimits limits)
      : clock_(clock),
        changed_(executor),
        server_(executor, {}, [this](const http::Request& request) { return answer(request); }) {
    auto listener = net::Listener::open(executor, {"127.0.0.1", 0}, nullptr).value();
    ClusterAccess access;
    access.server = {"127.0.0.1", listener->port()};
    server_.listen(std::move(listener));
    api_ = ApiClient::make(access, clock, "test").value();
    client = std::make_unique<LimitedClient>(*api_, limits, *this, clock,
                                             [this](const LimitedClient::Observation& request) {
                                               statuses.push_back(request.status);
                                               healthy.push_back(request.is_healthy);
                                               if (request.lacks_right) {
                                                 refused.emplace_back(request.target);
                                               }
                                             });
  }

  asio::awaitable<MonoTime> wait() override {
    while (clock_.mono() >= permitted_until) co_await changed_.wait();
    co_return permitted_until;
  }
  void permit(MonoTime until) {
    permitted_until = until;
    changed_.notify_all();
  }
  asio::awaitable<void> call(Duration limit) {
    const MonoTime deadline = clock_.mono() + limit;
    ApiRequest request{.method = http::Method::put, .target = "/a", .body = "{}"};
    auto answer = co_await client->call(std::move(request), deadline);
    results.push_back(answer ? *answer : answer.error().what);
    ended_at.push_back(clock_.mono());
  }
  asio::awaitable<void> stop() { co_await server_.stop(clock_.mono() + 1s); }

  std::unique_ptr<LimitedClient> client;
  MonoTime permitted_until = MonoTime::max();
  std::vector<http::Response> answers;
  bool silent = false;
  std::vector<MonoTime> asked_at;
  std::vector<int> statuses;
  std::vector<bool> healthy;
  std::vector<std::string> refused;  // the targets for which a right is missing
  std::vector<std::string> results;
  std::vector<MonoTime> ended_at;

 private:
  asio::awaitable<http::Response> answer(const http::Request& /*request*/) {
    asked_at.push_back(clock_.mono());
    while (silent) co_await changed_.wait();
    http::Response response{.status = 200, .body = "fine"};
    if (asked_at.size() <= answers.size()) response = answers[asked_at.size() - 1];
    co_return response;
  }

  const Clock& clock_;
  loop::Event changed_;
  http::Server server_;
  std::unique_ptr<ApiClient> api_;
};

class Limited : public testing::Test {
 protected:
  explicit Limited(RequestLimits limits = {})
      : fixture(time.executor(), time.clock(), limits), tasks(time.executor()) {}
  ~Limited() override {
    fixture.silent = false;
    tasks.cancel();
    time.complete(fixture.stop());
    time.complete(tasks.join());
  }

  void call(Duration limit = 10s) { tasks.spawn("call", fixture.call(limit)); }

  test::VirtualTime time;
  LimitedClientFixture fixture;
  loop::Tasks tasks;
  const MonoTime start = time.clock().mono();
};

TEST_F(Limited, AWebPageIsNoAnswer) {
  http::Response page{.status = 200, .body = "<html>log in"};
  page.headers.set("Content-Type", "text/html");
  fixture.answers = {page};
  call();
  EXPECT_TRUE(time.run_until(10s, [this] { return fixture.results.size() == 1; }));
  EXPECT_EQ(fixture.results[0], "answered with a web page: not an API server");
  EXPECT_EQ(fixture.statuses, std::vector<int>{0});
  EXPECT_EQ(fixture.healthy, std::vector<bool>{false});
}

class Slow : public Limited {
 protected:
  Slow() : Limited({.qps = 2, .burst = 1}) {}
};

TEST_F(Slow, RequestsKeepTheRate) {
  for (int index = 0; index < 4; ++index) call(1s);
  EXPECT_TRUE(time.run_until(10s, [this] { return fixture.results.size() == 4; }));
  for (std::size_t index = 0; index < 4; ++index) {
    EXPECT_EQ(fixture.results[index], "fine")
        << "the wait for the rate limit does not count against the deadline";
    EXPECT_GE(fixture.asked_at[index], start + 500ms * static_cast<int>(index));
  }
  EXPECT_LE(fixture.asked_at[3], start + 1600ms);
}

TEST_F(Limited, APauseIsObeyedByAll) {
  http::Response busy{.status = 429, .body = "busy"};
  busy.headers.set("Retry-After", "7");
  fixture.answers = {busy};
  call();
  EXPECT_TRUE(time.run_until(1s, [this] { return fixture.statuses.size() == 1; }));
  call();
  EXPECT_TRUE(time.run_until(20s, [this] { return fixture.results.size() == 2; }));
  EXPECT_EQ(fixture.statuses, (std::vector<int>{429, 200, 200}));
  EXPECT_GE(fixture.asked_at[1], start + 7s);
  EXPECT_GE(fixture.asked_at[2], start + 7s);
}

TEST_F(Limited, ItDoesNotTryForEver) {
  http::Response busy{.status = 429, .body = "busy"};
  busy.headers.set("Retry-After", "1");
  fixture.answers.assign(100, busy);
  call();
  EXPECT_TRUE(time.run_until(1min, [this] { return fixture.results.size() == 1; }));
  EXPECT_EQ(fixture.asked_at.size(), 11u);
  EXPECT_NE(fixture.results[0].find("PUT /a"), std::string::npos) << fixture.results[0];
}

TEST_F(Limited, WithoutAPermitNothingIsSent) {
  fixture.permit(start);
  call();
  time.run(1min);
  EXPECT_TRUE(fixture.asked_at.empty());
  fixture.permit(time.clock().mono() + 10s);
  EXPECT_TRUE(time.run_until(1s, [this] { return fixture.results.size() == 1; }));
  EXPECT_EQ(fixture.results[0], "fine");
}

TEST_F(Limited, WhatIsUnderWayEndsWithThePermit) {
  fixture.silent = true;
  fixture.permit(start + 3s);
  call(10s);
  EXPECT_TRUE(time.run_until(20s, [this] { return fixture.results.size() == 1; }));
  EXPECT_NEAR(std::chrono::duration<double>(fixture.ended_at[0] - start).count(), 3, 0.1);
  EXPECT_EQ(fixture.statuses, std::vector<int>{0});
  EXPECT_EQ(fixture.healthy, std::vector<bool>{false});
}

TEST_F(Limited, AServerThatShedsLoadIsNotHealthy) {
  const std::vector<std::pair<http::Response, bool>> cases{
      {{.status = 200}, true},  {{.status = 404}, true},  {{.status = 409}, true},
      {budget_refusal(), true}, {{.status = 429}, false}, {{.status = 500}, false},
      {{.status = 504}, false}};
  std::vector<bool> expected;
  for (const auto& [response, is_healthy] : cases) {
    fixture.answers.push_back(response);
    expected.push_back(is_healthy);
  }
  for (std::size_t n = 1; n <= cases.size(); ++n) {
    call();
    EXPECT_TRUE(time.run_until(20s, [&] { return fixture.results.size() == n; }));
  }
  EXPECT_EQ(fixture.healthy, expected);
}

TEST_F(Limited, AMissingRightIsToldFromOtherRefusals) {
  const auto forbidden = [](const std::string& message) {
    return http::Response{.status = 403, .body = R"({"message":")" + message + "\"}"};
  };
  fixture.answers = {
      forbidden("things is forbidden: unable to create new content in namespace a because it is "
                "being terminated"),
      forbidden("pods p is forbidden: exceeded quota: q, requested: pods=1"),
      forbidden("things is forbidden: User x cannot list resource things in API group e.com at the "
                "cluster scope"),
      {.status = 401, .body = "User x cannot list resource things"}};
  for (std::size_t done = 1; done <= 4; ++done) {
    call();
    ASSERT_TRUE(time.run_until(10s, [&] { return fixture.results.size() == done; }));
    EXPECT_EQ(fixture.refused.size(), done < 3 ? 0u : 1u) << done;
  }
  EXPECT_EQ(fixture.refused, std::vector<std::string>{"/a"});
}

}  // namespace
}  // namespace holdfast::agent
