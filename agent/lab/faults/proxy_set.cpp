#include "agent/lab/faults/proxy_set.h"

#include <algorithm>

namespace holdfast::agent::faults {

Status ProxySet::create(const ProxyConfig& config) {
  if (proxies_.contains(config.name)) return fail(Errc::conflict, "proxy already exists");
  if (proxies_.size() >= proxies_max) {
    return fail(Errc::exhausted,
                "at most " + std::to_string(proxies_max) + " proxies are possible");
  }
  FaultProxySettings settings{.enabled = config.enabled, .seed = seeds_.next(), .load = load_};
  TRY(std::unique_ptr<FaultProxy> proxy,
      FaultProxy::open(executor_, config.listen, config.upstream, std::move(settings)));
  proxies_[config.name] = std::move(proxy);
  return {};
}

Status ProxySet::populate(const std::vector<ProxyConfig>& configs) {
  for (const ProxyConfig& config : configs) {
    const auto existing = find(config.name);
    if (!existing) {
      if (auto created = create(config); !created) return created;
      continue;
    }
    const ProxyConfig present = config_of(config.name, **existing);
    if (present.listen == config.listen && present.upstream == config.upstream) continue;
    if (auto updated = update(config); !updated) return updated;
    if (auto cleared = (*existing)->set({}); !cleared) return cleared;
  }
  return {};
}

Status ProxySet::update(const ProxyConfig& config) {
  TRY(FaultProxy* const proxy, find(config.name));
  if (!config.enabled) proxy->disable();
  if (auto moved = proxy->move(config.listen, config.upstream); !moved) return moved;
  if (config.enabled && !proxy->is_enabled()) return proxy->enable();
  return {};
}

Status ProxySet::remove(const std::string& name) {
  if (proxies_.erase(name) == 0) return fail(Errc::not_found, "proxy not found");
  return {};
}

Status ProxySet::reset() {
  Status first;
  for (const auto& [name, proxy] : proxies_) {
    Status done = proxy->set({});
    if (done && !proxy->is_enabled()) done = proxy->enable();
    if (first && !done) first = fail("proxy " + name, done.error());
  }
  return first;
}

Result<FaultProxy*> ProxySet::find(const std::string& name) const {
  const auto found = proxies_.find(name);
  if (found == proxies_.end()) return fail(Errc::not_found, "proxy not found");
  return found->second.get();
}

std::vector<std::string> ProxySet::names() const {
  std::vector<std::string> names;
  names.reserve(proxies_.size());
  for (const auto& [name, proxy] : proxies_) names.push_back(name);
  return names;
}

asio::awaitable<void> ProxySet::stop() {
  for (const auto& [name, proxy] : proxies_) co_await proxy->stop();
  proxies_.clear();
}

ProxyLimits limits_within(std::size_t descriptors) {
  // A listener of each proxy, the API's connections, and files.
  constexpr std::size_t reserved = ProxySet::proxies_max + 250;
  const std::size_t pairs = descriptors > reserved ? (descriptors - reserved) / 2 : 0;
  ProxyLimits limits;
  limits.connections = std::clamp<std::size_t>(pairs, 1, limits.connections);
  return limits;
}

ProxyConfig config_of(const std::string& name, const FaultProxy& proxy) {
  return {.name = name,
          .listen = proxy.listen(),
          .upstream = proxy.upstream(),
          .enabled = proxy.is_enabled()};
}

}  // namespace holdfast::agent::faults
