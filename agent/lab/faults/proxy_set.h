// The fault proxies of a process, by name.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/faults/fault_proxy.h"
#include "agent/lab/faults/proxy_json.h"
#include "platform/random.h"

namespace holdfast::agent::faults {

class ProxySet {
 public:
  static constexpr std::size_t proxies_max = 200;

  // `seed`: of everything that toxics draw.
  ProxySet(asio::any_io_executor executor, std::uint64_t seed, ProxyLimits limits = {})
      : executor_(std::move(executor)),
        seeds_(seed),
        load_(std::make_shared<ProxyLoad>(ProxyLoad{.limits = limits})) {}

  // Errors of all functions: not_found, conflict, exhausted, and those of FaultProxy.

  [[nodiscard]] Status create(const ProxyConfig& config);
  // Creates the proxies. One that exists and has other addresses is moved and loses its toxics; one
  // that has the same addresses stays as it is. At the first error the rest is left out.
  [[nodiscard]] Status populate(const std::vector<ProxyConfig>& configs);
  [[nodiscard]] Status update(const ProxyConfig& config);
  [[nodiscard]] Status remove(const std::string& name);
  // Enables all proxies and removes all toxics. Returns the first error, but does the rest, too.
  [[nodiscard]] Status reset();

  // The proxy lives until it is removed.
  [[nodiscard]] Result<FaultProxy*> find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  // Closes all listeners and connections, and waits until they have ended.
  asio::awaitable<void> stop();

 private:
  asio::any_io_executor executor_;
  Random seeds_;
  std::shared_ptr<ProxyLoad> load_;
  std::map<std::string, std::unique_ptr<FaultProxy>> proxies_;
};

// The limits of a process that may open `descriptors`. A connection takes two of them, and enough
// remain for listeners and the API, so that it can still be reached when all are in use.
[[nodiscard]] ProxyLimits limits_within(std::size_t descriptors);

// What clients see of a proxy.
[[nodiscard]] ProxyConfig config_of(const std::string& name, const FaultProxy& proxy);

}  // namespace holdfast::agent::faults
