#include "test/unit/agent/apiserver/api_server_fixture.h"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <optional>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::test {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

asio::awaitable<void> call(http::Handler handler, http::Request request,
                           std::optional<http::Response>* response) {
  *response = co_await handler(request);
}

asio::awaitable<void> read_piece(std::shared_ptr<http::BodyStream> stream,
                                 std::optional<Result<std::string>>* piece) {
  *piece = co_await stream->next();
}

void rethrow(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

}  // namespace

agent::lab::ApiServerOptions options_without_controllers() {
  agent::lab::ApiServerOptions options;
  options.controllers = false;
  return options;
}

WallTime ApiServerFixture::start() { return parse_rfc3339("2026-11-21T01:23:14Z").value(); }

json::value TestResponse::json() const {
  const bool lines = body.find('\n') != std::string::npos && body.find('\n') + 1 != body.size();
  if (!lines && !stream) return json::parse(body);
  json::array events;
  for (const std::string_view line : split(body, '\n')) {
    if (!line.empty()) events.push_back(json::parse(line));
  }
  return events;
}

json::object TestResponse::object() const { return json::parse(body).as_object(); }

ApiServerFixture::ApiServerFixture(agent::lab::ApiServerOptions options)
    : options_(std::move(options)) {
  time_.clock().jump_wall(start() - time_.clock().wall());
  options_.data = dir_.path() / "data";
  options_.address = "192.0.2.2:6443";
  open();
}

void ApiServerFixture::open() {
  auto server = agent::lab::ApiServer::open(time_.executor(), time_.clock(), Random(7), options_);
  CHECK(server.has_value());
  server_ = *std::move(server);
}

void ApiServerFixture::restart() {
  server_.reset();
  open();
}

TestResponse ApiServerFixture::ask(const TestRequest& test_request) {
  http::Request request;
  request.method = http::parse_method(test_request.method);
  request.target = test_request.target;
  request.body = test_request.body;
  request.peer = test_request.peer;
  if (!test_request.content_type.empty())
    request.headers.set("Content-Type", test_request.content_type);
  for (const http::Header& header : test_request.headers)
    request.headers.add(header.name, header.value);
  if (!test_request.accept.empty()) request.headers.set("Accept", test_request.accept);
  if (!test_request.accept_encoding.empty()) {
    request.headers.set("Accept-Encoding", test_request.accept_encoding);
  }
  if (!test_request.token.empty())
    request.headers.set("Authorization", "Bearer " + test_request.token);
  std::optional<http::Response> response;
  asio::co_spawn(time_.context(), call(server_->handler(), std::move(request), &response), rethrow);
  time_.settle();
  // A server waits for a resourceVersion that is ahead.
  (void)time_.run_until(std::chrono::seconds(10), [&response] { return response.has_value(); });
  CHECK(response.has_value());
  return TestResponse{response->status, std::move(response->headers), std::move(response->body),
                      std::move(response->stream)};
}

std::vector<std::string> ApiServerFixture::lines_now(const TestResponse& response) {
  std::vector<std::string> lines;
  std::optional<Result<std::string>> piece;
  asio::co_spawn(time_.context(), read_piece(response.stream, &piece), rethrow);
  time_.settle();
  if (!piece) {
    // No line is available: stop the pending read.
    response.stream->cancel();
    time_.settle();
    return lines;
  }
  if (!*piece) return lines;
  for (const std::string_view line : split(**piece, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

void ApiServerFixture::drain(TestResponse& response) {
  for (;;) {
    std::optional<Result<std::string>> piece;
    asio::co_spawn(time_.context(), read_piece(response.stream, &piece), rethrow);
    time_.settle();
    for (int seconds = 0; !piece && seconds < 3 * 3600; ++seconds) {
      advance(std::chrono::seconds(1));
      time_.settle();
    }
    CHECK(piece.has_value());
    if (!*piece || (*piece)->empty()) return;
    response.body += **piece;
  }
}

void ApiServerFixture::advance(Duration by) {
  time_.run(by);
  server_->tick();
}

json::object ApiServerFixture::get(const std::string& target) {
  return ask({.target = target}).object();
}

json::object ApiServerFixture::post(const std::string& target, const json::object& body) {
  return ask({.method = "POST", .target = target, .body = json::serialize(body)}).object();
}

json::object ApiServerFixture::patch(const std::string& target, const json::object& body) {
  return ask({.method = "PATCH",
              .target = target,
              .body = json::serialize(body),
              .content_type = "application/merge-patch+json"})
      .object();
}

json::object ApiServerFixture::put(const std::string& target, const json::object& body) {
  return ask({.method = "PUT", .target = target, .body = json::serialize(body)}).object();
}

json::object ApiServerFixture::remove(const std::string& target, const std::string& body) {
  return ask({.method = "DELETE", .target = target, .body = body}).object();
}

}  // namespace holdfast::test
