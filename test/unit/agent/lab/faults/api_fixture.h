// The proxies' HTTP API, asked directly.

#pragma once

#include "agent/lab/faults/proxy_api.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::faults {

struct ApiFixture {
  ~ApiFixture() { time.complete(proxies.stop()); }

  http::Response ask(http::Method method, std::string target, std::string body = "") {
    http::Request request{.method = method, .target = std::move(target), .body = std::move(body)};
    return api.answer(request);
  }
  // "201 {...}", with the ports that proxies listen on as PORT.
  std::string asked(http::Method method, std::string target, std::string body = "") {
    const http::Response response = ask(method, std::move(target), std::move(body));
    return std::to_string(response.status) + " " + without_ports(response.body);
  }
  static std::string without_ports(std::string text) {
    constexpr std::string_view before = R"("listen":"127.0.0.1:)";
    for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
      at += before.size();
      const std::size_t end = text.find('"', at);
      if (text.substr(at, end - at) != "0") text.replace(at, end - at, "PORT");
    }
    return text;
  }

  test::VirtualTime time;
  ProxySet proxies{time.executor(), 1};
  ProxyApi api{proxies};
};

}  // namespace holdfast::agent::faults
