// A small fake cloud: some objects, one lease, and any number of API servers, each behind a link
// that can be cut, and each with its own faults. A list that is read in pages must not change
// meanwhile.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/faults/fault_proxy.h"
#include "platform/check.h"
#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "sync/wire/json.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent::uplink {

namespace asio = boost::asio;

using namespace std::chrono_literals;

struct ReceivedRequest {
  std::size_t server = 0;
  std::string what;  // "GET /api/v1/pods?watch=true"
  MonoTime at;
};

// The state that all API servers share.
class FakeCloud {
 public:
  explicit FakeCloud(asio::any_io_executor executor) : changed(std::move(executor)) {}

  // Creates or changes an object in a collection such as "/api/v1/namespaces/a/secrets". `body` is
  // JSON, whose metadata may have labels; the namespace comes from the path. A new object has the
  // uid "uid-NAME" unless it is given.
  void put(const std::string& collection, const std::string& name, const std::string& body = "{}",
           const std::string& uid = "");
  void remove(const std::string& collection, const std::string& name);
  // Forgets the changes so far, as etcd does: watches that have not seen all of them are answered
  // with 410, so that their scopes are listed again.
  void compact() { compacted_ = ++version_; }
  // Deletes the lease if its owner does not exist, as the garbage collector does. Returns whether
  // it was deleted.
  bool collect_garbage();
  // The lease as JSON; "" if there is none.
  [[nodiscard]] const std::string& lease() const { return lease_; }

  // How many requests whose text begins with `start` arrived, counted from the `from`-th request
  // on.
  [[nodiscard]] int count(std::string_view start, std::size_t from = 0) const;

  // The same for lists of a collection.
  [[nodiscard]] int count_lists(std::string_view collection, std::size_t from = 0) const;

  struct FakeWatchEvent {
    std::int64_t version;
    std::string collection;
    std::string name;
    std::string type;  // "ADDED", ...
    std::string object;
  };

  http::Response answer(const http::Request& request);

  // The current JSON of an object; "" if it does not exist.
  [[nodiscard]] std::string object(const std::string& collection, const std::string& name) const;

  std::vector<ReceivedRequest> asked;
  std::vector<std::string> renewals;  // the renewTimes of the lease, in order of arrival
  std::vector<FakeWatchEvent> events;
  loop::Event changed;

 private:
  http::Response lease(const http::Request& request);
  // Answers with the last state of the object, as kube-apiserver does for pods.
  http::Response remove(const std::string& path);
  // Applies strategic merge patches, and refuses what kube-apiserver refuses of a pod's addresses.
  http::Response patch_status(const http::Request& request);
  http::Response list(const std::string& collection, const Query& query);

  std::int64_t version_ = 100;
  std::int64_t compacted_ = 0;  // watches from older versions are refused
  std::string lease_;
  std::map<std::string, std::map<std::string, std::string>> collections_;
};

class FakeApiServer {
 public:
  // A null `tls` means plain HTTP.
  FakeApiServer(asio::any_io_executor executor, FakeCloud& cloud, const Clock& clock,
                std::size_t number, std::shared_ptr<const tls::Context> tls);

  [[nodiscard]] std::uint16_t port() const { return link->port(); }
  // Puts `toxics` on the link (faults/toxic.h).
  void cut(std::string_view toxics) { CHECK(link->set(faults::parse_toxics(toxics).value())); }
  void restore() { CHECK(link->set({})); }
  // Restarts at the same address with another certificate and a link without toxics.
  void show(std::shared_ptr<const tls::Context> tls);
  asio::awaitable<void> stop(MonoTime deadline);

  Duration latency{};  // delay of each answer
  // If set, the answer to all requests instead of the cloud's. A `status` of 0 means no answer: the
  // connection stays open.
  std::optional<http::Response> instead;
  bool leases_too = true;  // `instead` also applies to the agent's own lease
  // A test's own answers; they take precedence over `instead` and the cloud.
  using Special = std::function<std::optional<http::Response>(const http::Request&)>;
  Special special = [](const http::Request&) { return std::nullopt; };

  std::unique_ptr<faults::FaultProxy> link;

 private:
  asio::awaitable<http::Response> handle(const http::Request& request);

  asio::any_io_executor executor_;
  FakeCloud& cloud_;
  const Clock& clock_;
  std::size_t number_;
  loop::Event never_;
  http::Server server_;
};

}  // namespace holdfast::agent::uplink
