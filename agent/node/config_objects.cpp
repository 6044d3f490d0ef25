#include "agent/node/config_objects.h"

#include "platform/log.h"
#include "platform/text.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::node {

sync::pacing::BackoffConfig local_backoff() {
  return {.initial = std::chrono::milliseconds(100), .most = std::chrono::seconds(5)};
}

struct ConfigObjects::Watched final : ListWatchSink {
  Watched(const asio::any_io_executor& executor, const std::function<void()>& on_change)
      : changed(on_change), tasks(executor) {}

  void replace(std::vector<std::string> items, const std::string& /*version*/,
               const sync::wire::ScopeKind& /*kind*/) override {
    received = true;
    bytes = items.empty() ? std::string() : std::move(items.front());
    changed();
  }
  void apply(const sync::wire::WatchEvent& event) override {
    const bool deleted = event.type == sync::wire::WatchEvent::Type::deleted;
    bytes = deleted ? std::string() : event.object;
    changed();
  }
  void bookmark(const std::string& /*version*/) override {}

  const std::function<void()>& changed;
  bool received = false;
  std::string bytes;  // empty: the object does not exist
  loop::Tasks tasks;
};

ConfigObjects::ConfigObjects(asio::any_io_executor executor, ListWatchSource& source,
                             const Clock& clock, Random& random, std::function<void()> changed)
    : executor_(std::move(executor)),
      source_(source),
      clock_(clock),
      random_(random),
      changed_(std::move(changed)) {}

ConfigObjects::~ConfigObjects() = default;

void ConfigObjects::follow(const sync::autonomy::NeededObjects& wanted) {
  std::erase_if(ending_, [](const auto& each) { return each->tasks.size() == 0; });
  for (auto at = watched_.begin(); at != watched_.end();) {
    if (wanted.contains(at->first)) {
      ++at;
      continue;
    }
    at->second->tasks.cancel();
    ending_.push_back(std::move(at->second));
    at = watched_.erase(at);
  }
  for (const sync::autonomy::NeededObject& object : wanted) {
    const bool is_config = object.resource == "configmaps" || object.resource == "secrets";
    if (!is_config || watched_.contains(object)) continue;
    auto made = std::make_unique<Watched>(executor_, changed_);
    ListWatchTarget target{.path = "/api/v1/namespaces/" + percent_encode(object.namespace_name) +
                                   "/" + object.resource,
                           .field_selector = "metadata.name=" + object.name};
    target.reflector.backoff = local_backoff();
    made->tasks.spawn("watch " + object.resource + " " + object.name,
                      run_list_watch(std::move(target), source_, *made, clock_, random_));
    watched_.emplace(object, std::move(made));
  }
}

template <class T>
sync::runtime::Lookup<T> ConfigObjects::find(std::string resource, std::string_view namespace_name,
                                             std::string_view name) const {
  const auto found =
      watched_.find({std::move(resource), std::string(namespace_name), std::string(name)});
  if (found == watched_.end() || !found->second->received) return sync::runtime::NeverReceived{};
  if (found->second->bytes.empty()) return sync::runtime::Absent{};
  auto decoded = sync::wire::decode_bytes<T>(found->second->bytes);
  if (!decoded) {
    log_error("object unreadable", {{"name", name}, {"error", decoded.error()}});
    return sync::runtime::NeverReceived{};
  }
  return std::make_shared<const T>(*std::move(decoded));
}

sync::runtime::Lookup<sync::ConfigMap> ConfigObjects::config_map(std::string_view namespace_name,
                                                                 std::string_view name) const {
  return find<sync::ConfigMap>("configmaps", namespace_name, name);
}

sync::runtime::Lookup<sync::Secret> ConfigObjects::secret(std::string_view namespace_name,
                                                          std::string_view name) const {
  return find<sync::Secret>("secrets", namespace_name, name);
}

asio::awaitable<void> ConfigObjects::stop() {
  follow({});
  for (const auto& each : ending_) co_await each->tasks.join();
  ending_.clear();
}

}  // namespace holdfast::agent::node
