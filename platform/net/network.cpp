#include "platform/net/network.h"

#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

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
  Network& network = network_of(co_await asio::this_coro::executor);
  Route direct{std::move(to), std::move(tls)};
  auto connected = co_await network.connect(std::move(direct), deadline, protocols);
  co_return connected;
}

asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
    Route route, MonoTime deadline, std::span<const std::string_view> protocols) {
  Network& network = network_of(co_await asio::this_coro::executor);
  const std::shared_ptr<const Proxy> proxy = route.proxy;
  auto connected = co_await network.connect(std::move(route), deadline, protocols);
  if (!connected && proxy) co_return fail("through proxy " + proxy->name(), connected.error());
  co_return connected;
}

}  // namespace holdfast::net
