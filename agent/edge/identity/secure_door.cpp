#include "agent/edge/identity/secure_door.h"

#include "agent/edge/answer.h"
#include "agent/edge/identity/pods_interface.h"
#include "platform/log.h"

namespace holdfast::agent {

SecureDoor::SecureDoor(asio::any_io_executor executor, const IdentityOptions& options,
                       NodeIdentity& identity, const Clock& clock, http::Handler handler)
    : executor_(std::move(executor)),
      options_(options),
      identity_(identity),
      clock_(clock),
      handler_(std::move(handler)) {}

void SecureDoor::add_leaves() {
  const auto add = [this](Leaf leaf) {
    for (const Leaf& each : leaves_) {
      if (listens_at(each.at, leaf.at)) return;
    }
    leaves_.push_back(std::move(leaf));
  };
  const auto pods = pods_address(options_);
  const auto secure = net::HostPort::parse(options_.secure_listen);
  // An address of pods is theirs also where both flags name it.
  const bool both = secure && pods && *secure == *pods;
  if (secure && !both) {
    add({.flag = "--secure-listen",
         .at = *secure,
         .certificates = options_.require_client_certificates});
  }
  if (pods && pods_) add({.flag = "--dummy-if-ip", .at = *pods, .certificates = false});
}

Status SecureDoor::refresh() {
  if (identity_.authority().empty()) return {};
  add_leaves();
  for (Leaf& leaf : leaves_) {
    if (!leaf.context) {
      if (auto opened = open(leaf); !opened) return fail(leaf.flag, opened.error());
      continue;
    }
    TRY(const tls::Identity serving, identity_.serving());
    if (auto renewed = leaf.context->renew(serving); !renewed) return renewed;
  }
  return {};
}

Status SecureDoor::open(Leaf& leaf) {
  TRY(tls::Identity serving, identity_.serving());
  const tls::ServerSettings settings{.identity = std::move(serving),
                                     .client_ca_pem = identity_.authority(),
                                     .client_required = leaf.certificates,
                                     .now = [clock = &clock_] { return clock->wall(); }};
  TRY(const std::shared_ptr<const tls::Context> context, tls::Context::for_server(settings));
  TRY(std::unique_ptr<net::Listener> listener, net::Listener::open(executor_, leaf.at, context));
  const std::uint16_t port = listener->port();
  if (!server_) {
    server_ =
        std::make_unique<http::Server>(executor_, http::ServerLimits{}, handler_, status_problem);
  }
  server_->listen(std::move(listener));
  leaf.context = context;
  log_info(leaf.certificates ? "serving with certificates" : "serving callers with tokens",
           {{"address", leaf.at.host}, {"port", port}});
  return {};
}

asio::awaitable<void> SecureDoor::stop(MonoTime deadline) {
  if (server_) co_await server_->stop(deadline);
}

}  // namespace holdfast::agent
