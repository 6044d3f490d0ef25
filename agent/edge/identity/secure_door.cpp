#include "agent/edge/identity/secure_door.h"

#include "agent/edge/answer.h"
#include "platform/log.h"

namespace holdfast::agent {

SecureDoor::SecureDoor(asio::any_io_executor executor, const IdentityOptions& options,
                       NodeIdentity& identity, const Clock& clock, http::Handler handler)
    : executor_(std::move(executor)),
      options_(options),
      identity_(identity),
      clock_(clock),
      handler_(std::move(handler)) {}

Status SecureDoor::refresh() {
  if (options_.secure_listen.empty() || identity_.authority().empty()) return {};
  if (!context_) return open();
  TRY(const tls::Identity serving, identity_.serving());
  return context_->renew(serving);
}

Status SecureDoor::open() {
  TRY(const net::HostPort at, net::HostPort::parse(options_.secure_listen));
  TRY(tls::Identity serving, identity_.serving());
  const tls::ServerSettings settings{.identity = std::move(serving),
                                     .client_ca_pem = identity_.authority(),
                                     .client_required = options_.require_client_certificates,
                                     .now = [clock = &clock_] { return clock->wall(); }};
  TRY(const std::shared_ptr<const tls::Context> context, tls::Context::for_server(settings));
  auto listener = net::Listener::open(executor_, at, context);
  if (!listener) return fail("--secure-listen", listener.error());
  port_ = (*listener)->port();
  server_ =
      std::make_unique<http::Server>(executor_, http::ServerLimits{}, handler_, status_problem);
  server_->listen(*std::move(listener));
  context_ = context;
  log_info("serving with certificates", {{"port", port_}});
  return {};
}

asio::awaitable<void> SecureDoor::stop(MonoTime deadline) {
  if (server_) co_await server_->stop(deadline);
}

}  // namespace holdfast::agent
