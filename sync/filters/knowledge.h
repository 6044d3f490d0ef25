// What the filters must know besides the object itself, and how it is read from the agent's cache.
// Pure.
//
// "Not known" is a separate state: a filter that needs something unknown reports it, and the client
// gets no answer until it is known.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync::filters {

// Where a service's traffic may go: to this node or to the nodes of its pool.
enum class Topology : std::uint8_t { node, pool };

// The address at which pods of this node reach the agent.
struct MasterAddress {
  std::string host;  // an IP address
  std::uint16_t port = 0;

  [[nodiscard]] bool is_ipv6() const { return host.find(':') != std::string::npos; }
  bool operator==(const MasterAddress&) const = default;
};

using TopologyMap = std::map<watch::ObjectKey, Topology>;

struct FilterKnowledge {
  std::string node_name;
  bool pool_topology = true;            // false: services with a pool topology are not filtered
  std::optional<MasterAddress> master;  // std::nullopt: pods cannot reach the agent
  // The services that have a topology; std::nullopt: not all services are known.
  std::optional<TopologyMap> services;
  // The pool of this node, "" if it is in none; std::nullopt: the node is not known.
  std::optional<std::string> node_pool;
  // The nodes of that pool; std::nullopt: they are not known. This node belongs to it in any case.
  std::optional<std::set<std::string>> pool_nodes;

  bool operator==(const FilterKnowledge&) const = default;
};

// What must be known before an object can be filtered.
enum class Need : std::uint8_t { services, node, pool_nodes };
[[nodiscard]] std::string_view to_string(Need need);  // a phrase for messages: "services"

inline constexpr std::string_view topology_annotation = "openyurt.io/topologyKeys";
inline constexpr std::string_view openyurt_group = "apps.openyurt.io";
inline constexpr std::string_view pool_resource = "nodepools";
inline constexpr std::string_view pool_kind = "NodePool";
inline constexpr std::string_view pool_label = "apps.openyurt.io/nodepool";  // on nodes
inline constexpr std::string_view bucket_label = "openyurt.io/pool-name";    // on NodeBuckets

// Parses the annotation's value; std::nullopt for "" and for unknown values.
[[nodiscard]] std::optional<Topology> parse_topology(std::string_view value);

// What follows reads complete scopes. std::nullopt: the bytes of an object are lost, so the answer
// is not known.

// The services with a topology. Adds a message to `warnings` for each unknown topology and each
// object that cannot be parsed.
[[nodiscard]] std::optional<TopologyMap> topologies_of(const watch::WatchCache& services,
                                                       std::vector<std::string>& warnings);
// The pool in the node's label; "" if it has none or the node does not exist.
[[nodiscard]] std::optional<std::string> pool_of(const watch::WatchCache& nodes,
                                                 const std::string& node_name);
// The nodes in a NodePool's status; empty if there is no such pool.
[[nodiscard]] std::optional<std::set<std::string>> nodes_of_pool(const watch::WatchCache& pools,
                                                                 const std::string& pool);
// The nodes in all NodeBuckets of a pool.
[[nodiscard]] std::optional<std::set<std::string>> nodes_of_buckets(
    const watch::WatchCache& buckets, std::string_view pool);

}  // namespace holdfast::sync::filters
