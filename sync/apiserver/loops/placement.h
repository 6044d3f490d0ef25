// Where a pod goes: a first simple scheduler. Of the nodes that fit, the one with the fewest pods,
// then the first by name.

#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>

#include "sync/api/quantity.h"
#include "sync/apiserver/loops/replicas.h"

namespace holdfast::sync {

// How full the nodes are; keep it up to date while placing several pods.
class Occupancy {
 public:
  explicit Occupancy(const Objects& pods);
  void add(std::string_view node, const boost::json::object& pod);

  struct Use {
    std::int64_t pods = 0;
    Quantity cpu = {};
    Quantity memory = {};
  };
  [[nodiscard]] Use on(std::string_view node) const;

 private:
  std::map<std::string, Use, std::less<>> uses_;
};

struct Placement {
  std::string node;  // empty: none fits
  std::string why;   // then: "0/3 nodes are available: 1 node(s) were unschedulable, ..."

  bool operator==(const Placement&) const = default;
};

[[nodiscard]] Placement place(const boost::json::object& pod, const Objects& nodes,
                              const Occupancy& occupancy);

// Whether the default scheduler should look at the pod: unbound, alive, not gated.
[[nodiscard]] bool waits_for_node(const boost::json::object& pod);

}  // namespace holdfast::sync
