#include "platform/net/reserved_address.h"

#include <utility>

#include "platform/loop/timer.h"

namespace holdfast::net {

using asio::ip::tcp;
using boost::system::error_code;

Result<ReservedAddress> ReservedAddress::open(asio::any_io_executor executor, const HostPort& at) {
  error_code ec;
  const auto address = asio::ip::make_address(at.host, ec);
  if (ec) return fail(Errc::invalid, "listen address " + at.text() + ": not an IP address", ec);
  const tcp::endpoint endpoint(address, at.port);
  tcp::acceptor socket(std::move(executor));
  socket.open(endpoint.protocol(), ec);
  // As for a listener: to bind while connections of an earlier run are in TIME_WAIT.
  if (!ec) socket.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) socket.bind(endpoint, ec);
  if (!ec) socket.set_option(asio::socket_base::reuse_address(false), ec);
  if (ec) return fail(loop::to_error(ec, "listen on " + at.text()));
  HostPort reserved{at.host, socket.local_endpoint(ec).port()};
  if (ec) return fail(loop::to_error(ec, "listen on " + at.text()));
  return ReservedAddress(std::move(socket), std::move(reserved));
}

Result<std::unique_ptr<Listener>> ReservedAddress::listen(std::shared_ptr<const tls::Context> tls) {
  // Two sockets can bind to one address if both allow its reuse and neither is listening yet. Once
  // the listener is open, its own option keeps all others away (see Listener::open()).
  error_code ignored;
  socket_.set_option(asio::socket_base::reuse_address(true), ignored);
  auto opened = Listener::open(socket_.get_executor(), at_, std::move(tls));
  socket_.set_option(asio::socket_base::reuse_address(false), ignored);
  return opened;
}

}  // namespace holdfast::net
