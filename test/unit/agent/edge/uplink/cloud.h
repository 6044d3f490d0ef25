// A cloud that fits into a test: some objects, one lease, and any number of API servers in front of
// them, each behind a cable that can be cut and each able to misbehave by itself.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/faults/fault_proxy.h"
#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "sync/api/json.h"
#include "sync/api/object_header.h"

namespace holdfast::agent::uplink {

using namespace std::chrono_literals;

struct Asked {
  std::size_t server = 0;
  std::string what;  // "GET /api/v1/pods?watch=true"
  MonoTime at;
};

// What all servers share.
class Cloud {
 public:
  explicit Cloud(asio::any_io_executor executor) : changed(std::move(executor)) {}

  // Creates or changes an object in a collection: "/api/v1/namespaces/a/secrets". `body` is JSON
  // without metadata; the namespace is the path's.
  void put(const std::string& collection, const std::string& name, const std::string& body = "{}");
  void remove(const std::string& collection, const std::string& name);

  // How often the requests that begin so came, from the `from`-th request on.
  [[nodiscard]] int count(std::string_view start, std::size_t from = 0) const;

  struct Happened {
    std::int64_t version;
    std::string collection;
    std::string name;
    std::string type;  // "ADDED", ...
    std::string object;
  };

  http::Response answer(const http::Request& request);

  // An object as it is now; "" when it is not there.
  [[nodiscard]] std::string object(const std::string& collection, const std::string& name) const;

  std::vector<Asked> asked;
  std::vector<std::string> renewals;  // the renewTimes of the lease, as they came
  std::vector<Happened> events;
  loop::Event changed;

 private:
  http::Response lease(const http::Request& request);
  // Strategic merge patches, and what a kube-apiserver refuses of a pod's addresses.
  http::Response patch_status(const http::Request& request);
  http::Response list(const std::string& collection, const Query& query);

  std::int64_t version_ = 100;
  std::string lease_;
  std::map<std::string, std::map<std::string, std::string>> collections_;
};

class ApiServer {
 public:
  // `tls` null: plain HTTP.
  ApiServer(asio::any_io_executor executor, Cloud& cloud, const Clock& clock, std::size_t number,
            std::shared_ptr<const tls::Context> tls);

  [[nodiscard]] std::uint16_t port() const { return cable->port(); }
  void cut(std::string_view fault) { cable->set(Fault::parse(fault).value()); }
  // Comes back at the same address with another certificate.
  asio::awaitable<void> show(std::shared_ptr<const tls::Context> tls);
  asio::awaitable<void> stop(MonoTime deadline);

  Duration latency{};  // of each answer
  // Instead of the cloud's answers, once it is set; a `status` of 0: none at all, the connection
  // stays open.
  std::optional<http::Response> instead;
  bool leases_too = true;  // those of the agent's own lease also
  // Before all that: what a test answers by itself.
  using Special = std::function<std::optional<http::Response>(const http::Request&)>;
  Special special = [](const http::Request&) { return std::nullopt; };

  std::unique_ptr<FaultProxy> cable;

 private:
  asio::awaitable<http::Response> handle(const http::Request& request);

  asio::any_io_executor executor_;
  Cloud& cloud_;
  const Clock& clock_;
  std::size_t number_;
  loop::Event never_;
  http::Server server_;
};

}  // namespace holdfast::agent::uplink
