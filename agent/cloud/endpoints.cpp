#include "agent/cloud/endpoints.h"

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/metrics.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t pem_limit = 1 << 20;

// Enough for liveness probes and a few metrics scrapers.
http::ServerLimits server_limits() {
  http::ServerLimits limits;
  limits.reader.body_bytes = 64 * 1024;
  limits.shares = {.connections = 100, .bytes = 1024UL * 1024};
  return limits;
}

http::Response plain(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

// As upstream: "ok", or the list of all checks if one fails or ?verbose is set.
http::Response run(const std::vector<HealthCheck>& checks, std::string_view path, bool verbose) {
  std::string lines = "[+]ping ok\n";
  bool good = true;
  for (const HealthCheck& one : checks) {
    const Status status = one.run();
    good = good && status;
    lines += status ? "[+]" + one.name + " ok\n"
                    : "[-]" + one.name + " failed: " + status.error().what + "\n";
  }
  const std::string page(path.substr(1));
  if (!good) return plain(500, lines + page + " check failed\n");
  return plain(200, verbose ? lines + page + " check passed\n" : "ok");
}

Result<std::shared_ptr<const tls::Context>> tls_of(const EndpointSettings& settings) {
  std::shared_ptr<const tls::Context> none;
  if (settings.tls_cert_file.empty()) return none;
  tls::ServerSettings server;
  TRY(server.identity.certificate_pem, fs::read_all(settings.tls_cert_file, pem_limit));
  TRY(fs::ForeignSecret key, fs::read_foreign_secret(settings.tls_private_key_file, pem_limit));
  if (!key.warning.empty()) log_warn("unsafe --tls-private-key-file", {{"problem", key.warning}});
  server.identity.key_pem = std::move(key.bytes);
  return tls::Context::for_server(server);
}

}  // namespace

void add_options(config::Options& options, EndpointSettings& settings) {
  options.add("bind-address", settings.bind_address,
              "address to serve /healthz, /livez, /readyz and /metrics on");
  options.add("secure-port", settings.secure_port, "port to serve them on; 0: serve nothing");
  options.add("tls-cert-file", settings.tls_cert_file,
              "certificate to serve them with; empty: plain HTTP, on loopback only");
  options.add("tls-private-key-file", settings.tls_private_key_file, "key of --tls-cert-file");
  options.add("allow-insecure-bind", settings.allow_insecure_bind,
              "allow plain HTTP on addresses other than loopback");
}

Status check(const EndpointSettings& settings) {
  if (settings.secure_port < 0 || settings.secure_port > 65535) {
    return fail(Errc::invalid, "--secure-port must lie between 0 and 65535");
  }
  if (settings.tls_cert_file.empty() != settings.tls_private_key_file.empty()) {
    return fail(Errc::invalid, "--tls-cert-file and --tls-private-key-file go together");
  }
  if (settings.secure_port == 0) return {};
  boost::system::error_code ec;
  (void)asio::ip::make_address(settings.bind_address, ec);
  if (ec) {
    return fail(Errc::invalid,
                "--bind-address: \"" + settings.bind_address + "\" is not an IP address");
  }
  const bool plain = settings.tls_cert_file.empty();
  const net::HostPort at{.host = settings.bind_address};
  if (plain && !settings.allow_insecure_bind && !at.is_loopback()) {
    return fail(Errc::invalid, "--bind-address " + settings.bind_address +
                                   " needs --tls-cert-file, or --allow-insecure-bind for plain "
                                   "HTTP where others can read it");
  }
  return {};
}

Endpoints::Endpoints(asio::any_io_executor executor, Pages pages)
    : executor_(executor),
      pages_(std::move(pages)),
      server_(std::move(executor), server_limits(),
              [this](const http::Request& request) { return handle(request); }) {}

Status Endpoints::listen(const EndpointSettings& settings) {
  if (settings.secure_port == 0) return {};
  TRY(auto tls, tls_of(settings));
  const bool secure = tls != nullptr;
  const net::HostPort at{settings.bind_address, static_cast<std::uint16_t>(settings.secure_port)};
  auto listener = net::Listener::open(executor_, at, std::move(tls));
  if (!listener) return fail("--secure-port", listener.error());
  port_ = (*listener)->port();
  log_info("serving", {{"address", net::HostPort{at.host, port_}.text()}, {"tls", secure}});
  server_.listen(*std::move(listener));
  return {};
}

http::Response Endpoints::answer(const http::Request& request) const {
  if (request.method != http::Method::get && request.method != http::Method::head) {
    return plain(405, "only GET is served here\n");
  }
  const std::string_view path = request.path();
  const auto query = Query::parse(request.query());
  const bool verbose = query && query->has("verbose");
  if (path == "/healthz" || path == "/livez") return run(pages_.healthy, path, verbose);
  if (path == "/readyz") return run(pages_.ready, path, verbose);
  if (path != "/metrics") return plain(404, "no such page: " + std::string(path) + "\n");
  return {.status = 200,
          .headers = {{"Content-Type", Metrics::content_type}},
          .body = pages_.metrics()};
}

asio::awaitable<http::Response> Endpoints::handle(const http::Request& request) const {
  http::Response response = answer(request);
  co_return response;
}

}  // namespace holdfast::agent
