#include "test/unit/agent/apiserver/rig.h"

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

agent::lab::ApiServerOptions quiet() {
  agent::lab::ApiServerOptions options;
  options.controllers = false;
  return options;
}

WallTime Rig::start() { return parse_rfc3339("2026-11-21T01:23:14Z").value(); }

json::value Told::json() const {
  const bool lines = body.find('\n') != std::string::npos && body.find('\n') + 1 != body.size();
  if (!lines && !stream) return json::parse(body);
  json::array events;
  for (const std::string_view line : split(body, '\n')) {
    if (!line.empty()) events.push_back(json::parse(line));
  }
  return events;
}

json::object Told::object() const { return json::parse(body).as_object(); }

Rig::Rig(agent::lab::ApiServerOptions options) : clock_(start()), options_(std::move(options)) {
  options_.data = dir_.path() / "data";
  options_.address = "192.0.2.2:6443";
  open();
}

void Rig::open() {
  auto server = agent::lab::ApiServer::open(context_.get_executor(), clock_, Random(7), options_);
  CHECK(server.has_value());
  server_ = *std::move(server);
}

void Rig::restart() {
  server_.reset();
  open();
}

Told Rig::ask(const Asked& asked) {
  http::Request request;
  request.method = http::parse_method(asked.method);
  request.target = asked.target;
  request.body = asked.body;
  request.peer = asked.peer;
  if (!asked.content_type.empty()) request.headers.set("Content-Type", asked.content_type);
  if (!asked.accept.empty()) request.headers.set("Accept", asked.accept);
  if (!asked.accept_encoding.empty()) {
    request.headers.set("Accept-Encoding", asked.accept_encoding);
  }
  if (!asked.token.empty()) request.headers.set("Authorization", "Bearer " + asked.token);
  std::optional<http::Response> response;
  asio::co_spawn(context_, call(server_->handler(), std::move(request), &response), rethrow);
  context_.restart();
  context_.poll();
  CHECK(response.has_value());
  return Told{response->status, std::move(response->headers), std::move(response->body),
              std::move(response->stream)};
}

std::vector<std::string> Rig::lines_now(const Told& told) {
  std::vector<std::string> lines;
  std::optional<Result<std::string>> piece;
  asio::co_spawn(context_, read_piece(told.stream, &piece), rethrow);
  context_.restart();
  context_.poll();
  if (!piece) {
    // No line is available: stop the pending read.
    told.stream->cancel();
    context_.restart();
    context_.poll();
    return lines;
  }
  if (!*piece) return lines;
  for (const std::string_view line : split(**piece, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

void Rig::drain(Told& told) {
  for (;;) {
    std::optional<Result<std::string>> piece;
    asio::co_spawn(context_, read_piece(told.stream, &piece), rethrow);
    context_.restart();
    context_.poll();
    for (int seconds = 0; !piece && seconds < 3 * 3600; ++seconds) {
      advance(std::chrono::seconds(1));
      context_.restart();
      context_.poll();
    }
    CHECK(piece.has_value());
    if (!*piece || (*piece)->empty()) return;
    told.body += **piece;
  }
}

void Rig::advance(Duration by) {
  clock_.advance(by);
  server_->tick();
}

json::object Rig::get(const std::string& target) { return ask({.target = target}).object(); }

json::object Rig::post(const std::string& target, const json::object& body) {
  return ask({.method = "POST", .target = target, .body = json::serialize(body)}).object();
}

json::object Rig::patch(const std::string& target, const json::object& body) {
  return ask({.method = "PATCH",
              .target = target,
              .body = json::serialize(body),
              .content_type = "application/merge-patch+json"})
      .object();
}

json::object Rig::put(const std::string& target, const json::object& body) {
  return ask({.method = "PUT", .target = target, .body = json::serialize(body)}).object();
}

json::object Rig::remove(const std::string& target, const std::string& body) {
  return ask({.method = "DELETE", .target = target, .body = body}).object();
}

}  // namespace holdfast::test
