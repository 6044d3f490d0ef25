#include "platform/net/network.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "platform/net/dial.h"
#include "platform/net/names.h"

namespace holdfast::net {
namespace {

// The loop's network as an Asio service, as loop::LoopClock is.
class LoopNetwork final : public asio::execution_context::service {
 public:
  using key_type = LoopNetwork;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  LoopNetwork(asio::execution_context& loop, Network& network) : service(loop), network_(network) {}
  // Asio calls this if the loop was given no network.
  explicit LoopNetwork(asio::execution_context& loop) : LoopNetwork(loop, kernel_network()) {}

  [[nodiscard]] Network& network() const { return network_; }

 private:
  void shutdown() override {}

  Network& network_;
};

asio::execution_context::id LoopNetwork::id;

// The IP address that the host names by itself; "" if it is a name.
std::string literal_address(const std::string& host) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  return ec ? std::string() : address.to_string();
}

asio::awaitable<Result<Addresses>> addresses_of(std::string host, MonoTime deadline) {
  if (std::string literal = literal_address(host); !literal.empty()) {
    Addresses itself(1, std::move(literal));
    co_return itself;
  }
  Names& names = names_of(co_await asio::this_coro::executor);
  co_return co_await names.find(std::move(host), deadline);
}

asio::awaitable<Result<std::unique_ptr<Connection>>> open_route(
    Route route, MonoTime deadline, std::span<const std::string_view> protocols) {
  Network& network = network_of(co_await asio::this_coro::executor);
  HostPort first = route.proxy ? route.proxy->at() : route.to;
  CO_TRY(Addresses addresses, co_await addresses_of(first.host, deadline));
  CO_TRY(const std::unique_ptr<Dialed> dialed,
         co_await dial_first(network, std::move(first), std::move(addresses), deadline));
  co_return co_await dialed->establish(std::move(route), deadline, protocols);
}

}  // namespace

void set_network(asio::execution_context& loop, Network& network) {
  asio::make_service<LoopNetwork>(loop, network);
}

Network& network_of(const asio::any_io_executor& executor) {
  auto& loop = asio::query(executor, asio::execution::context);
  return asio::use_service<LoopNetwork>(loop).network();
}

Result<std::unique_ptr<Listener>> Listener::open(asio::any_io_executor executor, const HostPort& at,
                                                 std::shared_ptr<const tls::Context> tls) {
  return network_of(executor).listen(executor, at, std::move(tls));
}

Result<ReservedAddress> ReservedAddress::open(asio::any_io_executor executor, const HostPort& at) {
  return network_of(executor).reserve(executor, at);
}

asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
    HostPort to, std::shared_ptr<const tls::Context> tls, MonoTime deadline,
    std::span<const std::string_view> protocols) {
  Route direct{std::move(to), std::move(tls)};
  co_return co_await open_route(std::move(direct), deadline, protocols);
}

asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
    Route route, MonoTime deadline, std::span<const std::string_view> protocols) {
  const std::shared_ptr<const Proxy> proxy = route.proxy;
  auto connected = co_await open_route(std::move(route), deadline, protocols);
  if (!connected && proxy) co_return fail("through proxy " + proxy->name(), connected.error());
  co_return connected;
}

Error late_error(const asio::any_io_executor& executor, const Route& route) {
  const HostPort& first = route.proxy ? route.proxy->at() : route.to;
  const bool resolving = names_of(executor).is_waiting_for(first.host);
  const std::string what = resolving ? "resolve " + first.host : "connect to " + first.text();
  Error error{Errc::timeout, what + ": deadline passed"};
  if (route.proxy) error.what = "through proxy " + route.proxy->name() + ": " + error.what;
  return error;
}

std::string connecting_to(const HostPort& to, const std::string& address) {
  const std::string text = "connect to " + to.text();
  return literal_address(to.host).empty() ? text + " (" + address + ")" : text;
}

}  // namespace holdfast::net
