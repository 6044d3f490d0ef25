#include "test/cases/expectation.h"

#include <utility>

#include "test/cases/expected_events.h"
#include "test/cases/expected_objects.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;

namespace {

using Difference = std::optional<std::string>;

Difference differ(std::string_view what, const json::value& wanted, const json::value& found) {
  if (same(wanted, found)) return std::nullopt;
  return std::string(what) + ": expected " + shown(wanted) + ", got " + shown(found);
}

json::array sorted_texts(const json::value& names) {
  std::vector<std::string> list;
  for (const json::value& name : array_of(names)) list.emplace_back(text_of(name));
  return sorted_array(std::move(list));
}

Difference check_result(const json::value& wanted, const Driver& driver) {
  const json::value found = driver.result().value_or(nullptr);
  if (matches(wanted, found)) return std::nullopt;
  return "result: expected " + shown(wanted) + ", got " + shown(found);
}

bool in_range(const json::value& wanted, int found) {
  if (wanted.is_number()) return number_of(wanted) == found;
  const json::object& range = object_of(wanted);
  return found >= number(range, "min", 0) && found <= number(range, "max", 1e9);
}

Difference check_writes(const json::object& wanted, const Driver& driver, bool exact) {
  const auto& writes = driver.server().writes();
  for (const auto& field : wanted) {
    const auto found = writes.find(std::string(field.key()));
    const int count = found == writes.end() ? 0 : found->second;
    if (in_range(field.value(), count)) continue;
    return "writes " + std::string(field.key()) + ": expected " + shown(field.value()) + ", got " +
           std::to_string(count);
  }
  for (const auto& [name, count] : writes) {
    if (exact && !wanted.contains(name)) return "writes " + name + ": expected none";
  }
  return std::nullopt;
}

Difference check_attempts(const json::object& wanted, const Driver& driver) {
  for (const auto& field : wanted) {
    const auto& attempts = driver.server().delete_attempts();
    const auto found = attempts.find(std::string(field.key()));
    const int count = found == attempts.end() ? 0 : found->second;
    if (!in_range(field.value(), count)) {
      return differ("deleteAttempts " + std::string(field.key()), field.value(), count);
    }
  }
  return std::nullopt;
}

Difference check_zones(const json::object& wanted, const Driver& driver, bool exact) {
  const auto& zones = driver.fleet().zones().all();
  for (const auto& field : wanted) {
    const auto found = zones.find(std::string(field.key()));
    const bool known = found != zones.end() && found->second.has_state;
    if (!known) return "zone " + shown(field.key()) + ": expected a state, got none";
    json::object zone{{"state", std::string(to_string(found->second.state))}};
    const TokenBucket& limiter = found->second.queue.limiter();
    json::object rate{{"stopped", limiter.stopped()}};
    if (!limiter.stopped()) rate["qps"] = limiter.rate();
    zone["limiter"] = rate;
    if (!matches(field.value(), zone)) {
      return "zone " + shown(field.key()) + ": expected " + shown(field.value()) + ", got " +
             shown(zone);
    }
  }
  for (const auto& [key, zone] : zones) {
    if (exact && zone.has_state && !wanted.contains(key)) return "zone " + key + ": expected none";
  }
  return std::nullopt;
}

Difference check_scheduled(const json::object& wanted, const Driver& driver) {
  for (const auto& field : wanted) {
    json::value found;
    if (const auto* entry = driver.eviction().scheduled(std::string(field.key()))) {
      found = json::object{{"createdAt", Driver::seconds(entry->created)},
                           {"fireAt", Driver::seconds(entry->fire)}};
    }
    if (matches(field.value(), found)) continue;
    return "scheduled " + std::string(field.key()) + ": expected " + shown(field.value()) +
           ", got " + shown(found);
  }
  return std::nullopt;
}

constexpr std::string_view unhealthy_nodes = "node_collector_unhealthy_nodes_in_zone";

double gauge(const lifecycle::Zone* zone, std::string_view name) {
  const double size = zone == nullptr ? 0 : static_cast<double>(zone->count.all());
  if (name == "node_collector_zone_size") return size;
  if (name == "node_collector_zone_health") {
    return size == 0 ? 100 : 100 * static_cast<double>(zone->count.ready) / size;
  }
  if (zone == nullptr) return 0;
  return static_cast<double>(name == unhealthy_nodes ? zone->count.unready : zone->evictions);
}

std::string needs_metric(const json::object& metric) {
  const std::string name = needs_text(metric, "name");
  if (name == "node_collector_zone_size" || name == "node_collector_zone_health" ||
      name == unhealthy_nodes || name.starts_with("node_collector_evictions_")) {
    return name;
  }
  throw Malformed(metric, "name", "unknown metric " + name);
}

Difference check_metrics(const json::array& wanted, const Driver& driver) {
  for (const json::value& line : wanted) {
    const json::object& metric = object_of(line);
    const auto& zones = driver.fleet().zones().all();
    const auto found = zones.find(text(object_in(metric, "labels"), "zone"));
    const double value =
        gauge(found == zones.end() ? nullptr : &found->second, needs_metric(metric));
    if (auto difference = differ(shown(line), needs(metric, "value"), value)) return difference;
  }
  return std::nullopt;
}

Difference check_key(std::string_view key, const json::value& wanted, const json::object& expected,
                     const Driver& driver, std::string_view variant) {
  if (key == "result") return check_result(wanted, driver);
  if (key == "nodes") return check_nodes(object_of(wanted), driver.server());
  if (key == "pods") return check_pods(object_of(wanted), driver.server());
  if (key == "zones") {
    return check_zones(object_of(wanted), driver, flag(expected, "zonesExact"));
  }
  if (key == "podsDeleted") {
    return differ(key, sorted_texts(wanted), sorted_array(driver.server().pods_deleted()));
  }
  if (key == "deleteAttempts") return check_attempts(object_of(wanted), driver);
  if (key == "writes") {
    return check_writes(object_of(wanted), driver, flag(expected, "writesExact"));
  }
  if (key == "events") {
    return check_events(array_of(wanted), driver.performer().events(), variant,
                        flag(expected, "eventsExact"));
  }
  if (key == "scheduled") return check_scheduled(object_of(wanted), driver);
  if (key == "taintedNodes") {
    return differ(key, sorted_texts(wanted), sorted_array(driver.eviction().tainted_nodes()));
  }
  if (key == "metrics") return check_metrics(array_of(wanted), driver);
  throw Malformed(wanted, "unknown expectation");
}

bool says_nothing(std::string_view key) {
  return key == "afterStep" || key == "at" || key == "variants" || key == "upstreamBug" ||
         key == "upstreamRequestCount" || key == "notes" || key.ends_with("Exact");
}

}  // namespace

Difference first_difference(const json::object& expected, const Driver& driver,
                            std::string_view variant) {
  for (const auto& field : expected) {
    const std::string_view key(field.key().data(), field.key().size());
    if (says_nothing(key)) continue;
    if (auto difference = check_key(key, field.value(), expected, driver, variant)) {
      return difference;
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::cases
