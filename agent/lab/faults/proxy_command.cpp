#include "agent/lab/faults/proxy_command.h"

#include <boost/asio/this_coro.hpp>

#include "agent/lab/faults/proxy_api.h"
#include "platform/http/server.h"
#include "platform/log.h"
#include "platform/proc/descriptor_limit.h"
#include "platform/random.h"

namespace holdfast::agent::faults {

namespace asio = boost::asio;

namespace {

// The proxy that the arguments describe; nothing without arguments.
Result<std::optional<ProxyConfig>> proxy_of(const ProxySettings& settings) {
  const std::vector<std::string>& words = settings.words;
  if (words.empty() && settings.toxics.empty()) return std::nullopt;
  if (words.size() != 2) {
    return fail(Errc::invalid,
                "proxy: give LISTEN and TARGET, such as 127.0.0.1:7444 127.0.0.1:7443, or one of "
                "list, set and clear");
  }
  ProxyConfig config{.name = settings.name, .listen = {}, .upstream = {}};
  if (auto named = check_name("proxy", config.name); !named) return fail("--name", named.error());
  auto listen = parse_listen(words[0]);
  if (!listen) return fail("LISTEN", listen.error());
  auto upstream = parse_upstream(words[1]);
  if (!upstream) return fail("TARGET", upstream.error());
  config.listen = *std::move(listen);
  config.upstream = *std::move(upstream);
  return config;
}

Status start_proxy(ProxySet& proxies, const ProxyConfig& config,
                   const std::vector<std::string>& specs) {
  std::vector<Toxic> toxics;
  for (const std::string& spec : specs) {
    auto parsed = parse_toxics(spec);
    if (!parsed) return fail("--toxic", parsed.error());
    toxics.insert(toxics.end(), parsed->begin(), parsed->end());
  }
  if (auto created = proxies.create(config); !created) return created;
  TRY(FaultProxy* const proxy, proxies.find(config.name));
  for (const Toxic& toxic : toxics) {
    if (auto added = proxy->add(toxic); !added) return fail("--toxic " + toxic.name, added.error());
  }
  log_info("proxy listening", {{"name", config.name},
                               {"listen", proxy->listen().text()},
                               {"target", proxy->upstream().text()}});
  return {};
}

asio::awaitable<http::Response> answer_with(ProxyApi& api, const http::Request& request) {
  http::Response response = api.answer(request);
  co_return response;
}

std::uint64_t seed_of(const ProxySettings& settings) {
  if (settings.seed != 0) return static_cast<std::uint64_t>(settings.seed);
  return Random::from_entropy().next() >> 1U;  // --seed accepts it
}

}  // namespace

void add_proxy_options(config::Options& options, ProxySettings& settings) {
  options.begin_command(
      "proxy",
      "put faults on a TCP link: proxy LISTEN TARGET serves, with toxiproxy's HTTP API; proxy "
      "list, proxy set NAME TOXIC [attribute=value]... and proxy clear NAME [TOXIC] change what "
      "runs");
  options.add_rest("words", settings.words,
                   "LISTEN TARGET (HOST:PORT), or list, set NAME TOXIC ..., clear NAME [TOXIC]");
  options.add("name", settings.name, "name of the proxy");
  options.add(
      "toxic", settings.toxics,
      "toxic from the beginning, such as \"latency latency=300 jitter=50\"; types: latency, "
      "bandwidth, slow_close, timeout, reset_peer, slicer, limit_data, black_hole, refuse");
  options.add("admin", settings.admin, "loopback address and port of the HTTP API");
  options.add("seed", settings.seed,
              "seed of everything that toxics draw by chance; 0: a random one, which is logged");
}

Result<net::HostPort> parse_admin(std::string_view text) {
  auto at = net::HostPort::parse(text);
  if (!at) return fail("--admin", at.error());
  if (at->host == "localhost") at->host = "127.0.0.1";
  if (at->is_loopback()) return *std::move(at);
  return fail(Errc::invalid, "--admin " + at->text() +
                                 " is not a loopback address: the API knows its callers by their "
                                 "user, so it listens on loopback only");
}

bool is_client_command(const ProxySettings& settings) {
  if (settings.words.empty()) return false;
  const std::string& first = settings.words.front();
  return first == "list" || first == "set" || first == "clear";
}

asio::awaitable<Status> serve_proxies(ProxySettings settings, loop::Stop& stop,
                                      const Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(const net::HostPort admin, parse_admin(settings.admin));
  CO_TRY(const std::optional<ProxyConfig> config, proxy_of(settings));
  const std::uint64_t seed = seed_of(settings);
  const std::size_t descriptors = proc::raise_descriptor_limit();
  ProxySet proxies(executor, seed, limits_within(descriptors));
  CO_TRY(std::unique_ptr<net::Listener> listener, net::Listener::open(executor, admin, nullptr));
  if (config) {
    Status started = start_proxy(proxies, *config, settings.toxics);
    if (!started) co_return started;
  }
  ProxyApi api(proxies);
  const http::Handler handler = [&api](const http::Request& request) {
    return answer_with(api, request);
  };
  http::Server server(executor, ProxyApi::limits(), handler, ProxyApi::problem, ProxyApi::gate());
  const std::string address = net::HostPort{admin.host, listener->port()}.text();
  server.listen(std::move(listener));
  log_info("proxy admin listening", {{"address", address}, {"seed", std::to_string(seed)}});
  co_await stop.wait();
  co_await server.stop(clock.mono() + loop::drain_limit);
  co_await proxies.stop();
  Status done;
  co_return done;
}

}  // namespace holdfast::agent::faults
