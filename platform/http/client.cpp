#include "platform/http/client.h"

#include <algorithm>
#include <deque>

#include "platform/http/grammar.h"
#include "platform/http/h1_exchange.h"
#include "platform/http/h2/sessions.h"
#include "platform/http/hops.h"
#include "platform/net/network.h"

namespace holdfast::http {

struct Client::Core {
  Core(Endpoint to, const ClientLimits& bounds)
      : endpoint(std::move(to)),
        limits(bounds),
        pool(std::make_shared<h1::Pool>(h1::Pool{
            .host = endpoint.at.text(),
            .limits = {limits.reader, limits.idle_connections, limits.idle_total, limits.idle},
            .traffic = traffic})) {
    if (endpoint.tls == nullptr || !limits.http2.enabled) return;
    h2::SessionSettings settings{
        .reader = limits.reader, .idle = limits.idle, .limits = limits.http2, .traffic = traffic};
    sessions = std::make_shared<h2::Sessions>(route(), std::move(settings));
  }

  [[nodiscard]] net::Route route() const { return {endpoint.at, endpoint.tls, endpoint.proxy}; }

  void remember_http1(std::string kind) {
    http1_kinds.push_back(std::move(kind));
    if (http1_kinds.size() > limits.http1_kinds) http1_kinds.pop_front();
  }
  [[nodiscard]] bool wants_http1(const std::string& kind) const {
    return std::find(http1_kinds.begin(), http1_kinds.end(), kind) != http1_kinds.end();
  }

  Endpoint endpoint;
  ClientLimits limits;
  std::deque<std::string> http1_kinds;
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();
  std::shared_ptr<h1::Pool> pool;
  std::shared_ptr<h2::Sessions> sessions;  // null: HTTP/1.1 only
};

namespace {

using CorePtr = std::shared_ptr<Client::Core>;

// The kind of a request: its method and the last path segment, such as "GET exec". A server that
// wants one request over HTTP/1.1 will want others of its kind over HTTP/1.1, too.
std::string kind_of(const Request& request) {
  const std::string_view path = request.path();
  std::string kind(to_string(request.method));
  return kind.append(" ").append(path.substr(path.rfind('/') + 1));
}

asio::awaitable<Result<Response>> ask_alone(CorePtr core, const Request& request, bool streamed,
                                            MonoTime deadline) {
  auto answer = co_await h1::ask_kept(core->pool, request, streamed, deadline);
  if (answer) co_return *std::move(answer);
  CO_TRY(h1::ConnectionPtr connection, co_await net::connect(core->route(), deadline));
  ++core->traffic->connections;
  co_return co_await h1::ask(core->pool, std::move(connection), request, streamed, deadline);
}

// Sends the request over HTTP/2 if the server speaks it, and over HTTP/1.1 otherwise.
asio::awaitable<Result<Response>> ask_shared(CorePtr core, const Request& request, bool streamed,
                                             MonoTime deadline) {
  constexpr int attempts_max = 3;  // a server that restarts refuses at most two of them
  for (int attempt = 1;; ++attempt) {
    if (core->sessions->speaks_http1()) {
      auto answer = co_await h1::ask_kept(core->pool, request, streamed, deadline);
      if (answer) co_return *std::move(answer);
    }
    CO_TRY(h2::Sessions::ChosenConnection chosen,
           co_await h2::Sessions::find(core->sessions, deadline));
    if (chosen.plain) {
      co_return co_await h1::ask(core->pool, std::move(chosen.plain), request, streamed, deadline);
    }
    h2::RequestFailure failure = h2::RequestFailure::final;
    auto answer = co_await h2::Session::ask(chosen.session, request, streamed, deadline, failure);
    if (failure == h2::RequestFailure::wants_http1) {
      core->remember_http1(kind_of(request));
      co_return co_await ask_alone(core, request, streamed, deadline);
    }
    const bool repeatable = !chosen.fresh && may_repeat(request.method, request.repeatable);
    const bool again = failure == h2::RequestFailure::unprocessed ||
                       (failure == h2::RequestFailure::broken && repeatable);
    if (answer || !again || attempt == attempts_max) co_return answer;
  }
}

asio::awaitable<Result<Response>> ask(CorePtr core, Request request, bool streamed,
                                      MonoTime deadline) {
  if (const Status writable = check_writable(request); !writable) co_return fail(writable.error());
  const bool upgrade = request.headers.has("upgrade");
  if (!streamed) request.headers.remove("upgrade");  // send() cannot return a tunnel.
  // HTTP/2 has no upgrade: a tunnel needs an HTTP/1.1 connection of its own.
  const bool alone = core->sessions == nullptr || upgrade || core->wants_http1(kind_of(request));
  if (alone) co_return co_await ask_alone(core, request, streamed, deadline);
  co_return co_await ask_shared(core, request, streamed, deadline);
}

}  // namespace

Client::Client(Endpoint endpoint, const ClientLimits& limits)
    : core_(std::make_shared<Core>(std::move(endpoint), limits)) {}

Client::~Client() = default;

asio::awaitable<Result<Response>> Client::send(Request request, MonoTime deadline) {
  return ask(core_, std::move(request), false, deadline);
}

asio::awaitable<Result<Response>> Client::open(Request request, MonoTime deadline) {
  return ask(core_, std::move(request), true, deadline);
}

void Client::forget_connections() {
  core_->pool->kept.clear();
  core_->http1_kinds.clear();
  if (core_->sessions) core_->sessions->forget();
}

const Endpoint& Client::endpoint() const { return core_->endpoint; }

Traffic Client::traffic() const { return *core_->traffic; }

}  // namespace holdfast::http
