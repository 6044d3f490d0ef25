#include "agent/lab/up/control.h"

#include "agent/lab/up/view_json.h"
#include "agent/lab/up/view_text.h"
#include "platform/query.h"

namespace holdfast::agent::lab::up {
namespace {

namespace json = sync::json;

int status_of(Errc code) {
  if (code == Errc::invalid) return 400;
  if (code == Errc::not_found) return 404;
  return code == Errc::timeout ? 504 : 503;
}

}  // namespace

Control::Control(const asio::any_io_executor& executor, Operator& subject)
    : subject_(subject),
      service_(
          executor, [this](const http::Request& request) { return answer(request); },
          RequestLimits().body_bytes) {}

asio::awaitable<http::Response> Control::answer(const http::Request& request) {
  const std::string_view path = request.path();
  const bool reads = path == "/v1/view";
  if (!reads && path != "/v1/commands") co_return json_problem(404, "there is no such page");
  if (request.method != (reads ? http::Method::get : http::Method::post)) {
    co_return json_problem(405, "wrong method");
  }
  if (reads) co_return view(request);
  http::Response performed = co_await perform(request.body);
  co_return performed;
}

asio::awaitable<http::Response> Control::perform(std::string body) {
  auto request = parse_request(body);
  if (!request) co_return json_problem(400, request.error().what);
  const auto done = co_await subject_.perform(*std::move(request));
  if (!done) co_return json_problem(status_of(done.error().code), done.error().what);
  json::array lines;
  for (const std::string& line : *done) lines.emplace_back(line);
  json::object answer;
  answer["done"] = std::move(lines);
  co_return json_answer(200, answer);
}

http::Response Control::view(const http::Request& request) const {
  const auto query = Query::parse(request.query());
  if (!query) return json_problem(400, query.error().what);
  const View now = subject_.view();
  if (query->get("form") != "text") return json_answer(200, json_of(now));
  const ViewStyle style{.colours = query->get("colours") == "true"};
  return {.status = 200,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = view_text(now, style)};
}

}  // namespace holdfast::agent::lab::up
