#include "agent/cloud/scheduler/extender_caller.h"

#include "sync/schedule/preemption/extender_wire.h"

namespace holdfast::agent {
namespace {

// An answer may hold some thousand complete nodes.
http::ClientLimits limits() {
  http::ClientLimits limits;
  limits.reader.body_bytes = 16UL * 1024 * 1024;
  limits.idle_connections = 1;
  return limits;
}

}  // namespace

Result<std::unique_ptr<ExtenderCaller>> ExtenderCaller::make(const ExtenderPlan& plan,
                                                             const Clock& clock) {
  http::Endpoint endpoint{.at = plan.server.server.at};
  if (plan.server.tls) {
    TRY(endpoint.tls, tls::Context::for_client(plan.tls));
  }
  return std::unique_ptr<ExtenderCaller>(new ExtenderCaller(plan, std::move(endpoint), clock));
}

ExtenderCaller::ExtenderCaller(const ExtenderPlan& plan, http::Endpoint endpoint,
                               const Clock& clock)
    : plan_(plan), http_(std::move(endpoint), limits()), clock_(clock) {}

asio::awaitable<Result<std::string>> ExtenderCaller::ask(std::string verb, std::string body) {
  const std::string url = sync::schedule::extender_url(plan_.rules.url, verb);
  http::Request request{.method = http::Method::post};
  request.target = sync::schedule::extender_url(plan_.server.server.path_prefix, verb);
  request.headers.set("Content-Type", "application/json");
  request.body = std::move(body);
  const MonoTime deadline = clock_.mono() + plan_.timeout;
  auto answer = co_await http_.send(std::move(request), deadline);
  if (!answer) {
    std::string doing = "Post \"";
    doing += url;
    doing += "\"";
    co_return fail(std::move(doing), answer.error());
  }
  if (answer->status != 200) {
    std::string what = "failed ";
    what += verb;
    what += " with extender at URL ";
    what += url;
    what += ", code ";
    what += std::to_string(answer->status);
    co_return fail(Errc::unavailable, std::move(what));
  }
  Result<std::string> text = std::move(answer->body);
  co_return text;
}

}  // namespace holdfast::agent
