#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/http/grammar.h"
#include "platform/http/head_reader.h"
#include "platform/proxy/protocol.h"
#include "platform/text.h"
#include "platform/version.h"

namespace holdfast::proxy {
namespace {

constexpr http::HeadLimits head_limits{.bytes = 16UL * 1024, .fields = 128};
constexpr int interim_heads_max = 8;  // 1xx answers before the final one

// An answer of the proxy: its head, and whether bytes followed it.
struct ProxyAnswer {
  http::Head head;
  bool has_more = false;
};

bool is_web_page(const http::Head& head) {
  const std::string type = to_lower(head.headers.get("content-type"));
  return type.starts_with("text/html") || type.starts_with("application/xhtml");
}

// The names of the authentication schemes that a 407 offers, without their parameters.
std::string offered_schemes(const http::Headers& headers) {
  constexpr std::size_t names_max = 8;
  std::vector<std::string> names;
  for (const http::Header& header : headers) {
    if (!equals_ignoring_case(header.name, "proxy-authenticate")) continue;
    const std::string_view name =
        std::string_view(header.value).substr(0, header.value.find_first_of(" ,"));
    const bool plain = http::is_token(name) && name.size() <= 32;
    if (plain && names.size() < names_max) names.emplace_back(name);
  }
  return join(names, ", ");
}

std::string why_unauthorized(const http::Head& head, bool has_credentials) {
  const std::string schemes = offered_schemes(head.headers);
  const bool basic = schemes.empty() || to_lower(schemes).find("basic") != std::string::npos;
  std::string why = "status 407: ";
  if (!basic) return why + "the proxy offers only " + schemes + "; only Basic is supported";
  if (has_credentials) return why + "the proxy does not accept the user and password of its URL";
  return why + "the proxy asks for a user and password, and its URL contains none";
}

// Whether the tunnel is open.
Status judge(const ProxyAnswer& answer, bool has_credentials) {
  const http::Head& head = answer.head;
  const std::string status = "status " + std::to_string(head.status);
  const bool page = is_web_page(head);
  if (head.status >= 200 && head.status < 300) {
    // Content-Length means nothing here (RFC 9110, 9.3.6), but a tunnel has no type.
    if (page) return fail(Errc::corrupt, status + " with a web page in place of a tunnel");
    if (!answer.has_more) return {};
    return fail(Errc::corrupt, "bytes follow the answer before anything was sent to the server");
  }
  if (head.status == 407) return fail(Errc::unavailable, why_unauthorized(head, has_credentials));
  if (head.status == 511) return fail(Errc::unavailable, status + ": the network asks for a login");
  return fail(Errc::unavailable, "refused with " + status + (page ? " and a web page" : ""));
}

class ConnectProxy final : public AddressedProxy {
 public:
  using AddressedProxy::AddressedProxy;

  asio::awaitable<Status> open(net::Connection& connection, net::HostPort to) const override {
    const std::string doing = "CONNECT " + to.text();
    if (!http::is_host(to.text())) co_return fail(Errc::invalid, "CONNECT: malformed host name");
    const std::string request = request_for(to);
    const Status sent = co_await connection.write(request);
    if (!sent) co_return fail(doing, sent.error());
    auto answer = co_await read_answer(connection);
    if (!answer) co_return fail(doing, answer.error());
    const Status judged = judge(*answer, credentials().has_value());
    if (!judged) co_return fail(doing, judged.error());
    co_return judged;
  }

 private:
  [[nodiscard]] std::string request_for(const net::HostPort& to) const {
    std::string request = "CONNECT " + to.text() + " HTTP/1.1\r\nHost: " + to.text() +
                          "\r\nUser-Agent: holdfast/" + std::string(version) + "\r\n";
    if (credentials()) {
      request += "Proxy-Authorization: Basic " +
                 base64_encode(credentials()->user + ":" + credentials()->password) + "\r\n";
    }
    return request + "\r\n";
  }

  // Errors: corrupt also for an answer over the limits, because the proxy cannot be used.
  static asio::awaitable<Result<ProxyAnswer>> read_answer(net::Connection& connection) {
    std::array<char, 2048> buffer{};
    http::HeadReader reader(http::HeadReader::Kind::response, head_limits);
    std::string_view left;
    for (int heads = 0;;) {
      if (left.empty()) {
        CO_TRY(const std::size_t count, co_await connection.read_some(buffer));
        if (count == 0) co_return fail(Errc::unavailable, "the proxy closed the connection");
        left = std::string_view(buffer.data(), count);
      }
      const auto used = reader.put(left);
      if (!used) co_return fail(Errc::corrupt, "not an answer of a proxy: " + used.error().what);
      left.remove_prefix(*used);
      if (!reader.done()) continue;
      ProxyAnswer answer{reader.take(), !left.empty()};
      if (answer.head.status >= 200) co_return answer;
      if (++heads > interim_heads_max) co_return fail(Errc::corrupt, "too many interim answers");
      reader = http::HeadReader(http::HeadReader::Kind::response, head_limits);
    }
  }
};

}  // namespace

std::shared_ptr<const net::Proxy> connect_proxy(ProxyAddress address,
                                                std::optional<Credentials> credentials) {
  return std::make_shared<ConnectProxy>(std::move(address), std::move(credentials));
}

}  // namespace holdfast::proxy
