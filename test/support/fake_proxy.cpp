#include "test/support/fake_proxy.h"

#include <array>
#include <utility>

#include "platform/http/tunnel.h"
#include "platform/text.h"

namespace holdfast::test {

FakeProxy::FakeProxy(asio::any_io_executor executor, Settings settings)
    : executor_(executor),
      settings_(std::move(settings)),
      listener_(net::Listener::open(executor, settings_.at, settings_.tls).value()),
      tasks_(std::move(executor)) {
  tasks_.spawn("proxy", accept());
}

FakeProxy::~FakeProxy() { stop(); }

std::uint16_t FakeProxy::port() const { return listener_->port(); }

void FakeProxy::stop() {
  listener_->close();
  for (const auto& each : clients_) {
    if (const auto client = each.lock()) client->close();
  }
  tasks_.cancel();
}

asio::awaitable<void> FakeProxy::accept() {
  for (;;) {
    auto pending = co_await listener_->accept();
    if (!pending) co_return;
    auto made = co_await (*pending)->establish(MonoTime::max());
    if (!made) continue;
    ConnectionPtr client = *std::move(made);
    clients_.push_back(client);
    tasks_.spawn("proxied", serve(std::move(client)));
  }
}

asio::awaitable<void> FakeProxy::serve(ConnectionPtr client) {
  if (settings_.floods) co_return co_await flood(std::move(client));
  if (!settings_.script.empty()) co_return co_await follow_script(std::move(client));
  if (settings_.socks) co_return co_await serve_socks(std::move(client));
  co_await serve_connect(std::move(client));
}

asio::awaitable<void> FakeProxy::follow_script(ConnectionPtr client) {
  std::array<char, 4096> buffer{};
  for (std::size_t at = 0;; ++at) {
    const auto count = co_await client->read_some(buffer);
    if (count.value_or(0) == 0) co_return;
    received.append(buffer.data(), *count);
    if (at >= settings_.script.size()) continue;
    const Status sent = co_await client->write(settings_.script[at]);
    if (!sent) co_return;
  }
}

asio::awaitable<void> FakeProxy::flood(ConnectionPtr client) {
  (void)co_await read(client, 1);
  std::string bytes = "HTTP/1.1 200 OK\r\n";
  for (;;) {
    const Status sent = co_await client->write(bytes);
    if (!sent) co_return;
    flooded += bytes.size();
    bytes = "X: " + std::string(4000, 'x') + "\r\n";
  }
}

asio::awaitable<std::string> FakeProxy::read(ConnectionPtr client, std::size_t count) {
  std::string all;
  std::array<char, 1> one{};
  while (all.size() < count) {
    const auto got = co_await client->read_some(one);
    if (got.value_or(0) == 0) break;
    all += one[0];
  }
  received += all;
  co_return all;
}

asio::awaitable<void> FakeProxy::serve_connect(ConnectionPtr client) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    const std::string next = co_await read(client, 1);
    if (next.empty()) co_return;
    head += next;
  }
  const std::string secret = base64_encode(settings_.user + ":" + settings_.password);
  const std::string wanted = "\r\nProxy-Authorization: Basic " + secret + "\r\n";
  if (!settings_.user.empty() && head.find(wanted) == std::string::npos) {
    const std::string refusal =
        "HTTP/1.1 407 Proxy Authentication Required\r\n"
        "Proxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n";
    (void)co_await client->write(refusal);
    client->shutdown_write();
    co_return;
  }
  const std::string target = head.substr(8, head.find(' ', 8) - 8);
  asked.push_back(target);
  const auto to = net::HostPort::parse(target);
  if (!to) co_return;
  co_await tunnel(std::move(client), *to, "HTTP/1.0 200 Connection established\r\n\r\n",
                  "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
}

asio::awaitable<bool> FakeProxy::log_in(ConnectionPtr client) {
  const std::string greeting = co_await read(client, 2);
  const std::string methods = co_await read(client, static_cast<unsigned char>(greeting[1]));
  const bool asks = !settings_.user.empty();
  const bool can = methods.find('\2') != std::string::npos;
  std::string answer = asks ? (can ? "\5\2" : "\5\xff") : std::string("\5\0", 2);
  (void)co_await client->write(answer);
  if (!asks) co_return true;
  if (!can) co_return false;
  const std::string user_size = co_await read(client, 2);
  const std::string user = co_await read(client, static_cast<unsigned char>(user_size[1]));
  const std::string size = co_await read(client, 1);
  const std::string password = co_await read(client, static_cast<unsigned char>(size[0]));
  const bool good = user == settings_.user && password == settings_.password;
  answer = good ? std::string("\1\0", 2) : "\1\1";
  (void)co_await client->write(answer);
  co_return good;
}

asio::awaitable<void> FakeProxy::serve_socks(ConnectionPtr client) {
  const bool good = co_await log_in(client);
  if (!good) co_return;
  const std::string head = co_await read(client, 4);
  net::HostPort to;
  if (head.size() < 4) co_return;
  if (head[3] == 3) {
    const std::string size = co_await read(client, 1);
    to.host = co_await read(client, static_cast<unsigned char>(size[0]));
  } else {
    const std::string bytes = co_await read(client, 4);
    for (const char c : bytes) {
      to.host += (to.host.empty() ? "" : ".") + std::to_string(static_cast<unsigned char>(c));
    }
  }
  const std::string port = co_await read(client, 2);
  to.port = static_cast<std::uint16_t>((static_cast<unsigned char>(port[0]) << 8U) |
                                       static_cast<unsigned char>(port[1]));
  asked.push_back(to.text());
  const std::string after("\0\3\4name\0\1", 9);
  co_await tunnel(std::move(client), std::move(to), std::string("\5\0", 2) + after,
                  std::string("\5\5", 2) + after);
}

asio::awaitable<void> FakeProxy::tunnel(ConnectionPtr client, net::HostPort to, std::string good,
                                        std::string bad) {
  auto made = co_await net::connect(std::move(to), nullptr, MonoTime::max());
  (void)co_await client->write(made ? good : bad);
  if (!made) {
    client->shutdown_write();
    co_return;
  }
  ConnectionPtr server = *std::move(made);
  clients_.push_back(server);
  co_await http::pump_both_ways(std::move(client), std::move(server));
}

}  // namespace holdfast::test
