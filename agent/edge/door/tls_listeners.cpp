#include "agent/edge/door/tls_listeners.h"

#include "agent/edge/options/pods_address.h"
#include "agent/edge/route/answer.h"
#include "platform/log.h"

namespace holdfast::agent {

TlsListeners::TlsListeners(asio::any_io_executor executor, std::vector<Address> addresses,
                           NodeIdentity& identity, const Clock& clock, http::Handler handler,
                           http::Gate gate, const http::ServerLimits& limits)
    : executor_(std::move(executor)),
      identity_(identity),
      clock_(clock),
      handler_(std::move(handler)),
      gate_(std::move(gate)),
      limits_(limits) {
  for (Address& address : addresses) add(std::move(address));
}

void TlsListeners::add(Address address) {
  for (const Listener& each : listeners_) {
    if (listens_at(each.address.at, address.at)) return;
  }
  listeners_.push_back({.address = std::move(address)});
}

Status TlsListeners::refresh() {
  if (identity_.authority().empty()) return {};
  for (Listener& each : listeners_) {
    if (!each.context) {
      if (auto opened = open(each); !opened) return fail(each.address.flag, opened.error());
      continue;
    }
    TRY(const tls::Identity serving, identity_.serving());
    if (auto renewed = each.context->renew(serving); !renewed) return renewed;
  }
  return {};
}

Status TlsListeners::open(Listener& each) {
  TRY(tls::Identity serving, identity_.serving());
  const tls::ServerSettings settings{.identity = std::move(serving),
                                     .client_ca_pem = identity_.authority(),
                                     .client_required = each.address.certificates,
                                     .now = [clock = &clock_] { return clock->wall(); }};
  TRY(const std::shared_ptr<const tls::Context> context, tls::Context::for_server(settings));
  TRY(std::unique_ptr<net::Listener> listener,
      net::Listener::open(executor_, each.address.at, context));
  const std::uint16_t port = listener->port();
  if (port_ == 0) port_ = port;
  if (!server_) {
    server_ = std::make_unique<http::Server>(executor_, limits_, handler_, status_problem, gate_);
  }
  server_->listen(std::move(listener));
  each.context = context;
  log_info(each.address.certificates ? "serving with certificates" : "serving callers with tokens",
           {{"flag", each.address.flag}, {"address", each.address.at.host}, {"port", port}});
  return {};
}

http::Refusals TlsListeners::refusals() const {
  return server_ ? server_->refusals() : http::Refusals{};
}

std::optional<TlsListeners::Address> tls_address_of_pods(const IdentityOptions& options) {
  const auto pods = pods_address(options);
  if (!pods) return std::nullopt;
  return TlsListeners::Address{.flag = "--dummy-if-ip", .at = *pods, .certificates = false};
}

std::vector<TlsListeners::Address> tls_addresses(const IdentityOptions& options) {
  const auto pods = pods_address(options);
  const auto secure = net::HostPort::parse(options.secure_listen);
  // If both flags name the same address, it is the pods' address: tokens are accepted there.
  if (!secure || (pods && *secure == *pods)) return {};
  return {{.flag = "--secure-listen",
           .at = *secure,
           .certificates = options.require_client_certificates}};
}

asio::awaitable<void> TlsListeners::stop(MonoTime deadline) {
  if (server_) co_await server_->stop(deadline);
}

}  // namespace holdfast::agent
