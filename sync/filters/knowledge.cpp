#include "sync/filters/knowledge.h"

#include "platform/check.h"
#include "sync/filters/object.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::sync::filters {
namespace {

std::string name_of_key(const watch::ObjectKey& key) { return key.namespace_name + "/" + key.name; }

void add_text(std::set<std::string>& to, std::string_view text) {
  if (!text.empty()) to.emplace(text);
}

}  // namespace

std::string_view to_string(Need need) {
  switch (need) {
    case Need::services:
      return "services";
    case Need::node:
      return "this node";
    case Need::pool_nodes:
      return "the nodes of this node's pool";
  }
  UNREACHABLE();
}

std::optional<Topology> parse_topology(std::string_view value) {
  if (value == "kubernetes.io/hostname") return Topology::node;
  if (value == "openyurt.io/nodepool" || value == "kubernetes.io/zone") return Topology::pool;
  return std::nullopt;
}

std::optional<TopologyMap> topologies_of(const watch::WatchCache& services,
                                         std::vector<std::string>& warnings) {
  TopologyMap found;
  for (const auto& [key, service] : services.objects()) {
    const auto cached = service.bytes.load();
    if (!cached) return std::nullopt;
    // Most services have none. The annotation's key has the same bytes in JSON and protobuf.
    if ((*cached)->find(topology_annotation) == std::string::npos) continue;
    const auto opened = OpenedObject::open(**cached);
    if (!opened) {
      warnings.push_back("service " + name_of_key(key) + ": " + opened.error().what);
      continue;
    }
    const std::string_view value =
        wire::dig_text(opened->object, {"metadata", "annotations", topology_annotation});
    const auto topology = parse_topology(value);
    if (topology) {
      found.emplace(key, *topology);
    } else if (!value.empty()) {
      warnings.push_back("service " + name_of_key(key) + ": " + std::string(topology_annotation) +
                         ": " + wire::quoted(value) + " is not a known topology");
    }
  }
  return found;
}

std::optional<std::string> pool_of(const watch::WatchCache& nodes, const std::string& node_name) {
  const watch::CachedObject* node = nodes.find({"", node_name});
  if (node == nullptr) return "";
  const auto cached = node->bytes.load();
  if (!cached) return std::nullopt;
  const auto header = wire::read_any_header(**cached);
  return header ? std::string(header->labels.get(pool_label)) : std::string();
}

std::optional<std::set<std::string>> nodes_of_pool(const watch::WatchCache& pools,
                                                   const std::string& pool) {
  std::set<std::string> nodes;
  const watch::CachedObject* found = pools.find({"", pool});
  if (found == nullptr) return nodes;
  const auto cached = found->bytes.load();
  if (!cached) return std::nullopt;
  const auto opened = OpenedObject::open(**cached);
  if (!opened) return nodes;
  for (const json::value& node : wire::dig_list(opened->object, {"status", "nodes"})) {
    add_text(nodes, wire::as_text(node));
  }
  return nodes;
}

std::optional<std::set<std::string>> nodes_of_buckets(const watch::WatchCache& buckets,
                                                      std::string_view pool) {
  std::set<std::string> nodes;
  for (const auto& [key, bucket] : buckets.objects()) {
    const auto cached = bucket.bytes.load();
    if (!cached) return std::nullopt;
    const auto opened = OpenedObject::open(**cached);
    if (!opened) continue;
    if (wire::dig_text(opened->object, {"metadata", "labels", bucket_label}) != pool) continue;
    for (const json::value& node : wire::dig_list(opened->object, {"nodes"})) {
      add_text(nodes, wire::dig_text(wire::as_object(node), {"name"}));
    }
  }
  return nodes;
}

}  // namespace holdfast::sync::filters
