// What filters must know besides the object that they look at, and how it is read out of what the
// agent has cached.
//
// "Not known" is a state of its own: a filter that needs what is not known says so, and nobody is
// shown anything until it is.

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

// Where a service's traffic may go.
enum class Topology : std::uint8_t { node, pool };

// Where the pods of this node reach the agent.
struct MasterAddress {
  std::string host;  // an IP address
  std::uint16_t port = 0;

  [[nodiscard]] bool is_ipv6() const { return host.find(':') != std::string::npos; }
  bool operator==(const MasterAddress&) const = default;
};

using TopologyMap = std::map<ObjectKey, Topology>;

struct FilterKnowledge {
  std::string node_name;
  bool pool_topology = true;            // without it a topology of the pool is none
  std::optional<MasterAddress> master;  // nothing: pods can't reach the agent
  // The services that have a topology; nothing: not all services are known.
  std::optional<TopologyMap> services;
  // The pool of this node, "" if it is in none; nothing: the node is not known.
  std::optional<std::string> node_pool;
  // The nodes of that pool; nothing: they are not known. This node is one of them in any case.
  std::optional<std::set<std::string>> pool_nodes;

  bool operator==(const FilterKnowledge&) const = default;
};

// What is missing.
enum class Need : std::uint8_t { services, node, pool_nodes };
[[nodiscard]] std::string_view to_string(Need need);  // "services"

inline constexpr std::string_view topology_annotation = "openyurt.io/topologyKeys";
inline constexpr std::string_view pool_label = "apps.openyurt.io/nodepool";  // of nodes
inline constexpr std::string_view bucket_label = "openyurt.io/pool-name";    // of node buckets

// Of the annotation's value; nothing: "" or a value that nobody defined.
[[nodiscard]] std::optional<Topology> parse_topology(std::string_view value);

// The services in a complete scope that have a topology. Values that nobody defined and objects
// that can't be read are told in `warnings`.
[[nodiscard]] TopologyMap topologies_of(const WatchCache& services,
                                        std::vector<std::string>& warnings);
// The pool that a node is labelled with; "" for none, and for a node that is not there.
[[nodiscard]] std::string pool_of(const WatchCache& nodes, const std::string& node_name);
// The nodes that a NodePool's status tells; none if there is no such pool.
[[nodiscard]] std::set<std::string> nodes_of_pool(const WatchCache& pools, const std::string& pool);
// The nodes in all NodeBuckets of a pool.
[[nodiscard]] std::set<std::string> nodes_of_buckets(const WatchCache& buckets,
                                                     std::string_view pool);

}  // namespace holdfast::sync::filters
