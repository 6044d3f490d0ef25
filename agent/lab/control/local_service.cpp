#include "agent/lab/control/local_service.h"

#include "platform/http/client.h"

namespace holdfast::agent::lab {
namespace {

namespace json = sync::json;

http::ServerLimits limits_of(std::size_t body_bytes) {
  http::ServerLimits limits;
  limits.reader.body_bytes = body_bytes;
  limits.shares = {.connections = 50, .bytes = 4 * body_bytes};
  return limits;
}

http::Gate local_gate() {
  return {.admit = [](const http::Request& head) {
    http::Admission admission;
    if (const Status admitted = admit_local(head); !admitted) {
      admission.refusal = json_problem(403, admitted.error().what);
    }
    return admission;
  }};
}

// The text of {"error": "..."}, or the whole body.
std::string error_text(const std::string& body) {
  const auto parsed = sync::wire::parse_json(body);
  const json::object* object = parsed ? parsed->if_object() : nullptr;
  const json::value* error = object != nullptr ? object->if_contains("error") : nullptr;
  return error != nullptr && error->is_string() ? std::string(error->get_string()) : body;
}

}  // namespace

Status admit_local(const http::Request& request) {
  if (!http::is_root_or_self(request.peer)) {
    return fail(Errc::denied, "only root and the user that runs this program may use it");
  }
  for (const char* header : {"Origin", "Sec-Fetch-Site"}) {
    if (request.headers.has(header)) return fail(Errc::denied, "web pages may not use it");
  }
  const std::string_view host = request.headers.get("Host");
  const auto at = net::HostPort::parse(host);
  const bool named =
      at && (at->is_loopback() || at->host == "localhost") && at->port == request.peer.local_port;
  if (named) return {};
  return fail(Errc::denied, "the Host header does not name this listener");
}

http::Response json_answer(int status, const json::object& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = sync::wire::serialize(body) + "\n"};
}

http::Response json_problem(int status, std::string_view message) {
  return json_answer(status, {{"error", message}});
}

LocalService::LocalService(asio::any_io_executor executor, http::Handler handler,
                           std::size_t body_bytes)
    : executor_(executor),
      server_(std::move(executor), limits_of(body_bytes), std::move(handler), json_problem,
              local_gate()) {}

Status LocalService::listen(const std::string& flag, const std::string& address) {
  TRY(const net::HostPort at, net::HostPort::parse(address));
  if (!at.is_loopback()) {
    return fail(Errc::invalid, flag + " " + address + " is not a loopback address");
  }
  auto listener = net::Listener::open(executor_, at, nullptr);
  if (!listener) return fail(flag + " " + address, listener.error());
  address_ = net::HostPort{at.host, (*listener)->port()}.text();
  server_.listen(*std::move(listener));
  return {};
}

asio::awaitable<Result<std::string>> call_local(LocalServer server, std::string target,
                                                std::string body, MonoTime deadline) {
  auto at = net::HostPort::parse(server.address);
  if (!at) co_return fail(server.flag, at.error());
  http::Client client(http::Endpoint{.at = *std::move(at)});
  http::Request request{.target = std::move(target), .headers = {{"Host", server.address}}};
  if (!body.empty()) {
    request.method = http::Method::post;
    request.headers.add("Content-Type", "application/json");
    request.body = std::move(body);
  }
  auto sent = co_await client.send(std::move(request), deadline);
  if (!sent) {
    co_return fail("reach `" + server.program + "` at " + server.flag + " " + server.address,
                   sent.error());
  }
  if (sent->status != 200) {
    const Errc code = sent->status == 403 ? Errc::denied : Errc::invalid;
    co_return fail(code, error_text(sent->body));
  }
  co_return std::move(sent->body);
}

}  // namespace holdfast::agent::lab
