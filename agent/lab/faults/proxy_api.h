// toxiproxy's HTTP API (2.x), so that its clients can drive the fault proxies.
//
// GET, POST         /proxies                      all proxies by name; creates one
// GET, POST, PATCH, DELETE  /proxies/NAME         shows, changes or removes a proxy
// GET, POST         /proxies/NAME/toxics          lists toxics; adds one
// GET, POST, PATCH, DELETE  /proxies/NAME/toxics/TOXIC
// POST              /populate                     creates or moves proxies
// POST              /reset                        enables all proxies and removes all toxics
// GET               /version, /metrics
//
// An error is {"error":"proxy not found","status":404}. Documented in
// https://github.com/Shopify/toxiproxy, README, "HTTP API".
//
// Only root and the user that runs the program may use the API, so its listener must be on
// loopback: a proxy connects in the name of that user. Web pages are refused by their Origin, the
// Host that they ask for, and a browser's User-Agent. Threading: the loop's thread only.

#pragma once

#include <string_view>
#include <vector>

#include "agent/lab/faults/proxy_set.h"
#include "platform/http/message.h"
#include "platform/http/server.h"

namespace holdfast::agent::faults {

class ProxyApi {
 public:
  // `proxies` must outlive this.
  explicit ProxyApi(ProxySet& proxies) : proxies_(proxies) {}

  [[nodiscard]] http::Response answer(const http::Request& request);

  // For the server of the API.
  [[nodiscard]] static http::ServerLimits limits();
  [[nodiscard]] static http::Gate gate();
  [[nodiscard]] static http::Response problem(int status, std::string_view message);

 private:
  using Parts = std::vector<std::string>;

  http::Response answer_proxies(const http::Request& request);
  http::Response answer_proxy(const http::Request& request, const std::string& name);
  http::Response answer_toxics(const http::Request& request, FaultProxy& proxy);
  http::Response answer_toxic(const http::Request& request, FaultProxy& proxy,
                              const std::string& name);
  http::Response populate(const http::Request& request);
  [[nodiscard]] http::Response metrics() const;
  [[nodiscard]] json::object shown(const std::string& name) const;

  ProxySet& proxies_;
};

}  // namespace holdfast::agent::faults
