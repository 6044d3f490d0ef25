#include "agent/lab/up/control.h"

#include <gtest/gtest.h>

#include "test/support/run.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::lab::up {
namespace {

// Remembers what it is asked to do.
class FakeCluster final : public Operator {
 public:
  [[nodiscard]] View view() const override {
    return {.age = std::chrono::seconds(1), .kubeconfig = "k"};
  }
  asio::awaitable<Result<std::vector<std::string>>> perform(Request request) override {
    asked.push_back(request);
    std::vector<std::string> done{"cut a-1"};
    if (refusal) co_return fail(*refusal);
    co_return done;
  }

  std::vector<Request> asked;
  std::optional<Error> refusal;
};

class UpControlTest : public ::testing::Test {
 protected:
  http::Response ask(http::Method method, std::string target, std::string body = {}) {
    const http::Request request{
        .method = method, .target = std::move(target), .body = std::move(body)};
    http::Response response;
    time_.complete(take(request, response));
    return response;
  }
  asio::awaitable<void> take(const http::Request& request, http::Response& response) {
    response = co_await control_.answer(request);
  }

  test::VirtualTime time_;
  FakeCluster cluster_;
  Control control_{time_.executor(), cluster_};
};

TEST_F(UpControlTest, PerformsRequests) {
  const Request request{.action = "cut", .targets = {"a"}, .fields = {{"for", "5s"}}};
  const http::Response answer = ask(http::Method::post, "/v1/commands", json_of(request));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "{\"done\":[\"cut a-1\"]}\n");
  EXPECT_EQ(cluster_.asked, std::vector<Request>{request});
}

TEST_F(UpControlTest, SaysWhyItDidNot) {
  const struct {
    Errc code;
    int status;
  } rows[] = {
      {Errc::invalid, 400}, {Errc::not_found, 404}, {Errc::timeout, 504}, {Errc::unavailable, 503}};
  for (const auto& row : rows) {
    cluster_.refusal = Error{row.code, "because", {}};
    const http::Response answer =
        ask(http::Method::post, "/v1/commands", json_of(Request{.action = "cut"}));
    EXPECT_EQ(answer.status, row.status);
    EXPECT_EQ(answer.body, "{\"error\":\"because\"}\n");
  }
}

TEST_F(UpControlTest, ShowsTheView) {
  EXPECT_TRUE(ask(http::Method::get, "/v1/view").body.starts_with("{\"age\":1,"));
  EXPECT_TRUE(ask(http::Method::get, "/v1/view?form=text")
                  .body.starts_with("holdfast-lab up, 1s: 0 of 0 nodes Ready\n"));
  const std::string coloured = ask(http::Method::get, "/v1/view?form=text&colours=true").body;
  EXPECT_NE(coloured.find("\x1b[2mNODE"), std::string::npos);
}

TEST_F(UpControlTest, WhatIsWrongChangesNothing) {
  const struct {
    http::Method method;
    const char* target;
    const char* body;
    int status;
  } rows[] = {{http::Method::post, "/v1/commands", "", 400},
              {http::Method::post, "/v1/commands", "{", 400},
              {http::Method::post, "/v1/commands", R"({"actoin":"cut"})", 400},
              {http::Method::get, "/v1/commands", "", 405},
              {http::Method::post, "/v1/view", "{}", 405},
              {http::Method::get, "/v1/view?form=%", "", 400},
              {http::Method::get, "/", "", 404},
              {http::Method::post, "/v1/commands/", "{}", 404}};
  for (const auto& row : rows) {
    EXPECT_EQ(ask(row.method, row.target, row.body).status, row.status) << row.target;
  }
  EXPECT_TRUE(cluster_.asked.empty());
}

TEST_F(UpControlTest, ListensOnLoopbackOnly) {
  for (const char* address : {"0.0.0.0:0", "10.0.0.1:0"}) {
    const Status listening = control_.listen(address);
    ASSERT_FALSE(listening);
    EXPECT_EQ(listening.error().what,
              "--control " + std::string(address) + " is not a loopback address");
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::up
