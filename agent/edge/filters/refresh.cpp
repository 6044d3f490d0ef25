// The part of AnswerFilters that updates its knowledge and settings from its scopes.

#include "agent/edge/filters/answer_filters.h"
#include "agent/edge/route/caller.h"
#include "platform/check.h"
#include "platform/log.h"

namespace holdfast::agent {

using sync::filters::FilterKnowledge;
using sync::filters::Need;

AnswerFilters::Source& AnswerFilters::source_of(Need need) {
  switch (need) {
    case Need::services:
      return services_;
    case Need::node:
      return node_;
    case Need::pool_nodes:
      return pool_;
  }
  UNREACHABLE();
}

bool AnswerFilters::knows(Need need) const {
  switch (need) {
    case Need::services:
      return knowledge_->services.has_value();
    case Need::node:
      return knowledge_->node_pool.has_value();
    case Need::pool_nodes:
      return knowledge_->pool_nodes.has_value();
  }
  UNREACHABLE();
}

bool AnswerFilters::waits() const {
  return (services_.scope && !knows(Need::services)) || (node_.scope && !knows(Need::node)) ||
         (pool_.scope && !knows(Need::pool_nodes));
}

store::ScopeKey AnswerFilters::pool_key(const std::string& pool) const {
  store::ScopeKey key{.owner = std::string(node_owner),
                      .group = std::string(sync::filters::openyurt_group),
                      .encoding = std::string(to_string(sync::wire::Encoding::json))};
  if (options_.filters.pool_service_topology) {
    key.version = "v1alpha1";
    key.resource = "nodebuckets";
    key.label_selector = std::string(sync::filters::bucket_label) + "=" + pool;
  } else {
    key.version = "v1beta2";
    key.resource = sync::filters::pool_resource;
    key.field_selector = "metadata.name=" + pool;
  }
  return key;
}

void AnswerFilters::refresh() {
  bool news = config_.has_news() && read_config();
  const bool services = services_.has_news();
  const bool node = node_.has_news();
  const bool pool = pool_.has_news();
  if (services || node || pool) {
    FilterKnowledge knowledge = *knowledge_;
    if (services) read_services(knowledge);
    if (node) read_node(knowledge);
    if (pool) read_pool(knowledge);
    if (knowledge != *knowledge_) {
      knowledge_ = std::make_shared<const FilterKnowledge>(std::move(knowledge));
      news = true;
    }
  }
  if (news) announce();
}

void AnswerFilters::announce() {
  ++epoch_;
  views_.clear();
  changed_.notify_all();
  for (const auto& [key, scope] : scopes_.table().all()) scope->changed().notify_all();
}

// Reads the ConfigMap. Returns whether the settings have changed. Without a ConfigMap they are the
// defaults.
bool AnswerFilters::read_config() {
  if (!config_.complete) return false;
  const sync::watch::WatchCache& cache = config_.scope->cache();
  std::string text;
  if (!cache.objects().empty()) {
    const auto cached = cache.objects().begin()->second.bytes.load();
    if (!cached) return false;
    text = **cached;
  }
  if (text == config_text_) return false;
  config_text_ = text;
  sync::filters::HubConfigRead read;
  if (!text.empty()) {
    auto parsed = sync::filters::read_hub_config(text);
    if (parsed) {
      read = *std::move(parsed);
    } else {
      read.warnings.push_back(parsed.error().what);
    }
  }
  for (const std::string& warning : read.warnings) {
    log_warn("invalid setting in the ConfigMap",
             {{"configmap", options_.filters.hub_config}, {"what", warning}});
  }
  if (read.config == assignment_.config()) return false;
  assignment_.configure(std::move(read.config));
  log_info(text.empty() ? "ConfigMap absent, using default settings"
                        : "settings read from the ConfigMap",
           {{"configmap", options_.filters.hub_config}});
  return true;
}

void AnswerFilters::read_services(FilterKnowledge& knowledge) {
  if (!services_.complete) return;
  std::vector<std::string> warnings;
  auto services = sync::filters::topologies_of(services_.scope->cache(), warnings);
  if (!services) return;
  knowledge.services = std::move(services);
  if (warnings == warned_) return;
  for (const std::string& warning : warnings)
    log_warn("topology of a service ignored", {{"why", warning}});
  warned_ = std::move(warnings);
}

void AnswerFilters::read_node(FilterKnowledge& knowledge) {
  if (!node_.complete || !options_.filters.nodepool_name.empty()) return;
  auto pool = sync::filters::pool_of(node_.scope->cache(), options_.node_name);
  if (!pool || knowledge.node_pool == pool) return;
  knowledge.node_pool = std::move(pool);
  knowledge.pool_nodes.reset();  // The known nodes belong to the previous pool.
  if (pool_.scope) pool_.scope->remove_watch(clock_.mono());
  pool_ = {};
}

void AnswerFilters::read_pool(FilterKnowledge& knowledge) const {
  if (!pool_.scope) return;
  if (pool_.complete) {
    const sync::watch::WatchCache& cache = pool_.scope->cache();
    auto nodes = options_.filters.pool_service_topology
                     ? sync::filters::nodes_of_buckets(cache, *knowledge.node_pool)
                     : sync::filters::nodes_of_pool(cache, *knowledge.node_pool);
    if (nodes) knowledge.pool_nodes = std::move(nodes);
  } else if (pool_.refused && !knowledge.pool_nodes) {
    // The node may not read its pool. The only node that surely belongs to it is this one.
    log_warn("nodes of the pool cannot be read, using this node alone",
             {{"pool", *knowledge.node_pool}});
    knowledge.pool_nodes.emplace();
  }
}

}  // namespace holdfast::agent
