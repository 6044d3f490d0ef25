// The HTTP API over a socket, with what toxiproxy's clients send (test/data/toxiproxy).

#include <fstream>
#include <sstream>

#include "platform/http/server.h"
#include "platform/text.h"
#include "test/unit/agent/lab/faults/api_fixture.h"

namespace holdfast::agent::faults {
namespace {

using namespace std::chrono_literals;

struct Exchange {
  std::string request;  // as it is on the wire
  std::string answer;   // "201 {...}"
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The exchanges of a file, for an API at `port`.
std::vector<Exchange> exchanges_of(const std::string& client, std::uint16_t port) {
  const std::string path = HOLDFAST_SOURCE_ROOT "/test/data/toxiproxy/" + client + ".http";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string rest = replaced(text.str(), "127.0.0.1:8474", "127.0.0.1:" + std::to_string(port));
  std::vector<Exchange> exchanges;
  constexpr std::string_view begin = "=== request\n";
  while (rest.starts_with(begin)) {
    const std::size_t end = rest.find("\n" + std::string(begin));
    const std::string one = rest.substr(begin.size(), end - begin.size());
    rest.erase(0, end == std::string::npos ? end : end + 1);
    const std::size_t split_at = one.find("\n--- ");
    const std::string message = one.substr(0, split_at);
    const std::size_t body_at = message.find("\n\n");
    Exchange exchange;
    exchange.request = replaced(message.substr(0, body_at), "\n", "\r\n") + "\r\n\r\n";
    if (body_at != std::string::npos) exchange.request += message.substr(body_at + 2);
    exchange.answer = replaced(one.substr(split_at + 5), "\n", " ");
    exchanges.push_back(exchange);
  }
  return exchanges;
}

asio::awaitable<http::Response> answer_api(ProxyApi& api, const http::Request& request) {
  http::Response response = api.answer(request);
  co_return response;
}

// Sends the bytes and reads one response: "201 {...}".
asio::awaitable<void> exchange_bytes(net::HostPort at, const std::string& bytes,
                                     std::string& answer) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  const MonoTime deadline = clock.mono() + 5s;
  auto connection = co_await net::connect(at, nullptr, deadline);
  if (!connection) co_return;
  (*connection)->expires_at(deadline);
  (void)co_await (*connection)->write(bytes);
  std::string got;
  std::vector<char> buffer(4096);
  std::size_t wanted = std::string::npos;
  while (got.size() < wanted) {
    const auto count = co_await (*connection)->read_some(buffer);
    if (!count || *count == 0) break;
    got.append(buffer.data(), *count);
    const std::size_t head = got.find("\r\n\r\n");
    if (head == std::string::npos) continue;
    const std::size_t length = got.find("Content-Length: ");
    const std::size_t digits = length + 16;
    wanted = head + 4;
    if (length < head) {
      const std::string number = got.substr(digits, got.find('\r', digits) - digits);
      wanted += parse_int<std::size_t>(number).value();
    }
    answer = got.substr(9, 3) + " " + got.substr(head + 4);
  }
}

class ProxyClients : public testing::TestWithParam<std::string> {};

TEST_P(ProxyClients, GetTheAnswersTheyExpect) {
  ApiFixture fixture;
  const http::Handler handler = [&fixture](const http::Request& request) {
    return answer_api(fixture.api, request);
  };
  http::Server server(fixture.time.executor(), ProxyApi::limits(), handler, ProxyApi::problem,
                      ProxyApi::gate());
  auto listener = net::Listener::open(fixture.time.executor(), {"127.0.0.1", 0}, nullptr).value();
  const net::HostPort at{"127.0.0.1", listener->port()};
  server.listen(std::move(listener));
  const std::vector<Exchange> exchanges = exchanges_of(GetParam(), at.port);
  EXPECT_GT(exchanges.size(), 10U);
  for (const Exchange& exchange : exchanges) {
    std::string answer;
    fixture.time.complete(exchange_bytes(at, exchange.request, answer));
    answer = trim(ApiFixture::without_ports(answer));
    EXPECT_EQ(answer, trim(exchange.answer)) << exchange.request;
  }
  fixture.time.complete(server.stop(fixture.time.clock().mono() + 1s));
}

INSTANTIATE_TEST_SUITE_P(, ProxyClients, testing::Values("go", "node", "python"),
                         [](const auto& client) { return client.param; });

}  // namespace
}  // namespace holdfast::agent::faults
