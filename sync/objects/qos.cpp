#include "sync/objects/qos.h"

#include <array>

#include "platform/check.h"
#include "sync/objects/quantity.h"

namespace holdfast::sync::objects {
namespace {

constexpr std::array<std::string_view, 2> counted = {"cpu", "memory"};

// Sums over all containers.
struct Sums {
  std::array<Quantity, counted.size()> requests;
  std::array<Quantity, counted.size()> limits;
  bool every_container_limited = true;
};

Quantity amount(const StringMap& list, std::string_view resource) {
  const std::string* text = list.find(resource);
  if (text == nullptr) return {};
  const auto quantity = Quantity::parse(*text);
  return quantity && !quantity->negative() ? *quantity : Quantity();
}

void add(const std::vector<Container>& containers, Sums& sums) {
  for (const Container& container : containers) {
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const Quantity limit = amount(container.resources.limits, counted[i]);
      sums.requests[i] += amount(container.resources.requests, counted[i]);
      sums.limits[i] += limit;
      sums.every_container_limited = sums.every_container_limited && !limit.zero();
    }
  }
}

Qos computed(const PodSpec& spec) {
  Sums sums;
  add(spec.containers, sums);
  add(spec.init_containers, sums);
  bool any = false;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    any = any || !sums.requests[i].zero() || !sums.limits[i].zero();
  }
  if (!any) return Qos::best_effort;
  const bool equal = sums.requests == sums.limits;
  return equal && sums.every_container_limited ? Qos::guaranteed : Qos::burstable;
}

}  // namespace

std::string_view to_string(Qos qos) {
  switch (qos) {
    case Qos::best_effort:
      return "BestEffort";
    case Qos::burstable:
      return "Burstable";
    case Qos::guaranteed:
      return "Guaranteed";
  }
  UNREACHABLE();
}

Qos qos_class(const Pod& pod) {
  for (const Qos qos : {Qos::best_effort, Qos::burstable, Qos::guaranteed}) {
    if (pod.status.qos_class == to_string(qos)) return qos;
  }
  return computed(pod.spec);
}

}  // namespace holdfast::sync::objects
