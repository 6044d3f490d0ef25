#include <array>
#include <boost/asio/ip/address.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "platform/http/grammar.h"
#include "platform/proxy/protocol.h"

namespace holdfast::proxy {
namespace {

constexpr char socks_version = 5;
constexpr char no_authentication = 0;
constexpr char by_password = 2;
constexpr char none_acceptable = static_cast<char>(0xff);

// RFC 1928, 6.
constexpr std::string_view replies[] = {"succeeded",
                                        "general failure",
                                        "not allowed by the proxy's rules",
                                        "network unreachable",
                                        "host unreachable",
                                        "connection refused",
                                        "time to live expired",
                                        "command not supported",
                                        "address type not supported"};

std::string describe_reply(char reply) {
  const auto code = static_cast<unsigned char>(reply);
  const std::string number = "reply " + std::to_string(code);
  return code < std::size(replies) ? number + ": " + std::string(replies[code]) : number;
}

[[nodiscard]] tl::unexpected<Error> not_socks() {
  return fail(Errc::corrupt, "not an answer of a SOCKS 5 proxy");
}

// A text with its length before it.
std::string counted(std::string_view text) {
  return std::string(1, static_cast<char>(text.size())).append(text);
}

// The request to connect. Names are sent as they are: the proxy resolves them.
std::string connect_request(const net::HostPort& to) {
  std::string request{socks_version, 1, 0};
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(to.host, ec);
  if (ec) {
    request += '\3' + counted(to.host);
  } else if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    request.append(1, '\1').append(bytes.begin(), bytes.end());
  } else {
    const auto bytes = address.to_v6().to_bytes();
    request.append(1, '\4').append(bytes.begin(), bytes.end());
  }
  request += static_cast<char>(to.port >> 8U);
  request += static_cast<char>(to.port & 0xffU);
  return request;
}

// Reads exactly as many bytes, so that nothing of the tunnel is consumed.
asio::awaitable<Status> read_exactly(net::Connection& connection, std::span<char> into) {
  Status done;
  while (!into.empty()) {
    CO_TRY(const std::size_t count, co_await connection.read_some(into));
    if (count == 0) co_return fail(Errc::unavailable, "the proxy closed the connection");
    into = into.subspan(count);
  }
  co_return done;
}

class Socks5Proxy final : public AddressedProxy {
 public:
  using AddressedProxy::AddressedProxy;

  asio::awaitable<Status> open(net::Connection& connection, net::HostPort to) const override {
    const std::string doing = "SOCKS " + to.text();
    if (!http::is_host(to.text()) || to.host.size() > socks5_text_max) {
      co_return fail(Errc::invalid, "SOCKS: malformed host name");
    }
    Status done = co_await authenticate(connection);
    if (done) done = co_await connect(connection, to);
    if (!done) co_return fail(doing, done.error());
    co_return done;
  }

 private:
  asio::awaitable<Status> authenticate(net::Connection& connection) const {
    std::string offer{socks_version, 1, no_authentication};
    if (credentials()) offer = {socks_version, 2, no_authentication, by_password};
    Status done = co_await connection.write(offer);
    std::array<char, 2> answer{};
    if (done) done = co_await read_exactly(connection, answer);
    if (!done) co_return done;
    const auto [answered_version, method] = answer;
    if (answered_version != socks_version) co_return not_socks();
    if (method == no_authentication) co_return done;
    if (method == by_password && credentials()) co_return co_await log_in(connection);
    if (method != none_acceptable) co_return not_socks();
    co_return fail(Errc::unavailable,
                   credentials()
                       ? "the proxy accepts no user and password"
                       : "the proxy asks for a user and password, and its URL contains none");
  }

  asio::awaitable<Status> log_in(net::Connection& connection) const {
    const std::string login =
        '\1' + counted(credentials()->user) + counted(credentials()->password);
    Status done = co_await connection.write(login);
    std::array<char, 2> answer{};
    if (done) done = co_await read_exactly(connection, answer);
    if (!done) co_return done;
    if (answer[0] != 1) co_return not_socks();
    if (answer[1] == 0) co_return done;
    co_return fail(Errc::unavailable, "the proxy does not accept the user and password of its URL");
  }

  static asio::awaitable<Status> connect(net::Connection& connection, const net::HostPort& to) {
    const std::string request = connect_request(to);
    Status done = co_await connection.write(request);
    std::array<char, 5> answer{};  // and the first byte of the address, which may be its length
    if (done) done = co_await read_exactly(connection, answer);
    if (!done) co_return done;
    if (answer[0] != socks_version) co_return not_socks();
    if (answer[1] != 0) co_return fail(Errc::unavailable, describe_reply(answer[1]));
    std::size_t address = static_cast<unsigned char>(answer[4]);
    if (answer[3] == 1) address = 3;
    if (answer[3] == 4) address = 15;
    if (answer[3] != 1 && answer[3] != 3 && answer[3] != 4) co_return not_socks();
    std::array<char, socks5_text_max + 2> rest{};  // the address and a port; they mean nothing here
    const std::span<char> unread = std::span(rest).first(address + 2);
    co_return co_await read_exactly(connection, unread);
  }
};

}  // namespace

std::shared_ptr<const net::Proxy> socks5_proxy(ProxyAddress address,
                                               std::optional<Credentials> credentials) {
  return std::make_shared<Socks5Proxy>(std::move(address), std::move(credentials));
}

}  // namespace holdfast::proxy
