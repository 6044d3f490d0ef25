#include "agent/lab/faults/proxy_api.h"

#include "platform/check.h"
#include "platform/http/host.h"
#include "platform/log.h"
#include "platform/metrics.h"
#include "platform/text.h"
#include "platform/version.h"

namespace holdfast::agent::faults {
namespace {

using http::Method;
using http::Request;
using http::Response;

constexpr std::size_t body_bytes_max = 1UL << 20;
// The release whose API this is. Clients may compare versions, so it comes first.
constexpr std::string_view api_version = "2.12.0";

Response reply(int status, const json::value& document) {
  Response response{.status = status, .headers = {}, .body = sync::wire::serialize(document)};
  response.headers.set("Content-Type", "application/json");
  return response;
}

std::string shown_version() {
  return std::string(api_version).append("+holdfast.").append(version);
}

Response no_content() { return {.status = 204, .headers = {}, .body = {}}; }

json::object error_object(int status, std::string_view message) {
  return {{"error", message}, {"status", status}};
}

// toxiproxy answers 500 if it cannot listen. 409 would mean to clients that the proxy exists.
int status_of(Errc code) {
  switch (code) {
    case Errc::invalid:
      return 400;
    case Errc::not_found:
      return 404;
    case Errc::conflict:
      return 409;
    case Errc::exhausted:
      return 429;
    case Errc::gone:
    case Errc::denied:
    case Errc::timeout:
    case Errc::unavailable:
    case Errc::corrupt:
    case Errc::cancelled:
      return 500;
  }
  UNREACHABLE();
}

Response refuse(const Error& error) { return ProxyApi::problem(status_of(error.code), error.what); }

// The answer to /populate after an error.
Response populated(const Error& error, json::array proxies) {
  const int status = status_of(error.code);
  json::object document = error_object(status, error.what);
  document["proxies"] = std::move(proxies);
  return reply(status, document);
}

Response wrong_method() { return ProxyApi::problem(405, "method not allowed"); }

bool is_change(Method method) { return method == Method::post || method == Method::patch; }

// The parts of a path, decoded; empty if the path is malformed.
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path.substr(1), '/')) {
    auto decoded = percent_decode(part, false);
    if (!decoded) return {};
    parts.push_back(*std::move(decoded));
  }
  return parts;
}

// Why a request is refused. Whoever may use the API makes connections in the name of this program's
// user.
std::optional<std::string> refusal_of(const Request& head) {
  if (!http::is_root_or_self(head.peer)) {
    return "only root and the user that runs this program may use it";
  }
  if (head.headers.has("origin")) return "requests of web pages (Origin header) are not allowed";
  if (head.headers.get("user-agent").starts_with("Mozilla/")) return "User agent not allowed";
  const auto host = http::check_host(head, {});
  if (!host) return host.error().what;
  return std::nullopt;
}

}  // namespace

http::ServerLimits ProxyApi::limits() {
  http::ServerLimits limits;
  limits.reader.body_bytes = body_bytes_max;
  limits.shares = {.connections = 200, .bytes = 16UL << 20};
  return limits;
}

http::Gate ProxyApi::gate() {
  http::Gate gate;
  gate.admit = [](const Request& head) {
    http::Admission admission{.body_bytes = body_bytes_max};
    if (const auto why = refusal_of(head)) {
      log_warn("proxy admin refuses a request", {{"why", *why}});
      admission.refusal = problem(403, *why);
    }
    return admission;
  };
  return gate;
}

Response ProxyApi::problem(int status, std::string_view message) {
  return reply(status, error_object(status, message));
}

Response ProxyApi::answer(const Request& request) {
  const Parts parts = parts_of(request.path());
  const std::string first = parts.empty() ? "" : parts.front();
  const bool is_get = request.method == Method::get;
  const bool is_post = request.method == Method::post;
  if (parts.size() == 1 && first == "version") {
    if (!is_get) return wrong_method();
    return reply(200, json::object{{"version", shown_version()}});
  }
  if (parts.size() == 1 && first == "metrics") return is_get ? metrics() : wrong_method();
  if (parts.size() == 1 && first == "populate") return is_post ? populate(request) : wrong_method();
  if (parts.size() == 1 && first == "reset") {
    if (!is_post) return wrong_method();
    const Status done = proxies_.reset();
    return done ? no_content() : refuse(done.error());
  }
  const bool is_toxics = parts.size() >= 3 && parts[2] == "toxics" && parts.size() <= 4;
  if (first != "proxies" || (parts.size() > 2 && !is_toxics)) return problem(404, "page not found");
  if (parts.size() == 1) return answer_proxies(request);
  if (parts.size() == 2) return answer_proxy(request, parts[1]);
  const auto proxy = proxies_.find(parts[1]);
  if (!proxy) return refuse(proxy.error());
  if (parts.size() == 3) return answer_toxics(request, **proxy);
  return answer_toxic(request, **proxy, parts[3]);
}

Response ProxyApi::answer_proxies(const Request& request) {
  if (request.method == Method::get) {
    json::object all;
    for (const std::string& name : proxies_.names()) all[name] = shown(name);
    return reply(200, all);
  }
  if (request.method != Method::post) return wrong_method();
  const auto config = read_proxy(request.body);
  if (!config) return refuse(config.error());
  if (auto created = proxies_.create(*config); !created) return refuse(created.error());
  return reply(201, shown(config->name));
}

Response ProxyApi::answer_proxy(const Request& request, const std::string& name) {
  const auto proxy = proxies_.find(name);
  if (!proxy) return refuse(proxy.error());
  if (request.method == Method::get) return reply(200, shown(name));
  if (request.method == Method::remove) {
    const Status removed = proxies_.remove(name);
    return removed ? no_content() : refuse(removed.error());
  }
  if (!is_change(request.method)) return wrong_method();
  const auto config = read_proxy_change(request.body, config_of(name, **proxy));
  if (!config) return refuse(config.error());
  if (auto updated = proxies_.update(*config); !updated) return refuse(updated.error());
  return reply(200, shown(name));
}

Response ProxyApi::answer_toxics(const Request& request, FaultProxy& proxy) {
  if (request.method == Method::get) return reply(200, to_json(proxy.toxics()));
  if (request.method != Method::post) return wrong_method();
  const auto toxic = read_toxic(request.body);
  if (!toxic) return refuse(toxic.error());
  if (auto added = proxy.add(*toxic); !added) return refuse(added.error());
  return reply(200, to_json(*toxic));
}

Response ProxyApi::answer_toxic(const Request& request, FaultProxy& proxy,
                                const std::string& name) {
  const Toxic* const present = proxy.find(name);
  if (present == nullptr) return problem(404, "toxic not found");
  if (request.method == Method::get) return reply(200, to_json(*present));
  if (request.method == Method::remove) {
    const Status removed = proxy.remove(name);
    return removed ? no_content() : refuse(removed.error());
  }
  if (!is_change(request.method)) return wrong_method();
  const auto toxic = read_toxic_change(request.body, *present);
  if (!toxic) return refuse(toxic.error());
  if (auto changed = proxy.change(*toxic); !changed) return refuse(changed.error());
  return reply(200, to_json(*toxic));
}

// Also after an error, the answer lists the proxies of the request that exist now.
Response ProxyApi::populate(const Request& request) {
  const auto configs = read_proxies(request.body);
  if (!configs) return populated(configs.error(), {});
  const Status done = proxies_.populate(*configs);
  json::array present;
  for (const ProxyConfig& config : *configs) {
    if (proxies_.find(config.name)) present.push_back(shown(config.name));
  }
  if (!done) return populated(done.error(), std::move(present));
  return reply(201, json::object{{"proxies", std::move(present)}});
}

// Counters are made anew for each answer, so that those of removed proxies are gone.
Response ProxyApi::metrics() const {
  Metrics metrics;
  for (const std::string& name : proxies_.names()) {
    const FaultProxy& proxy = *proxies_.find(name).value();
    for (const Stream direction : {Stream::upstream, Stream::downstream}) {
      const MetricLabels labels{{"direction", std::string(to_string(direction))},
                                {"proxy", name},
                                {"listener", proxy.listen().text()},
                                {"upstream", proxy.upstream().text()}};
      const ProxyTraffic& traffic = proxy.traffic(direction);
      metrics.counter("toxiproxy_proxy_received_bytes_total", "Bytes received.", labels)
          .add(static_cast<double>(traffic.received));
      metrics.counter("toxiproxy_proxy_sent_bytes_total", "Bytes sent.", labels)
          .add(static_cast<double>(traffic.sent));
    }
    metrics.gauge("holdfast_lab_proxy_connections", "Open connections.", {{"proxy", name}})
        .set(static_cast<double>(proxy.connections()));
  }
  Response response{.status = 200, .headers = {}, .body = metrics.text()};
  response.headers.set("Content-Type", Metrics::content_type);
  return response;
}

json::object ProxyApi::shown(const std::string& name) const {
  const FaultProxy& proxy = *proxies_.find(name).value();
  return to_json(config_of(name, proxy), proxy.toxics());
}

}  // namespace holdfast::agent::faults
