#include "test/cases/expected_events.h"

#include <boost/json/serialize.hpp>

#include "test/cases/profile.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;

namespace {

bool agrees(const json::object& wanted, std::string_view field, std::string_view found) {
  return find(wanted, field) == nullptr || text(wanted, field) == found;
}

bool matches_event(const json::object& wanted, const lifecycle::RecordEvent& event,
                   std::string_view variant) {
  const json::object& about = object_in(wanted, "involved");
  const bool of_eviction = event.source == lifecycle::EventSource::taint_eviction;
  const bool of_node = event.kind == lifecycle::EventKind::node;
  return agrees(wanted, "reason", event.reason) && agrees(wanted, "message", event.message) &&
         agrees(wanted, "type", event.warning ? "Warning" : "Normal") &&
         agrees(wanted, "source",
                of_eviction ? eviction_source(variant) : lifecycle_source(variant)) &&
         agrees(about, "kind", of_node ? "Node" : "Pod") &&
         agrees(about, "name", event.about.name) &&
         agrees(about, "namespace", event.about.namespace_name) &&
         agrees(about, "uid", event.about.uid);
}

}  // namespace

std::optional<std::string> check_events(const json::array& wanted,
                                        const std::vector<lifecycle::RecordEvent>& found,
                                        std::string_view variant, bool exact) {
  std::vector<bool> expected(found.size(), false);
  for (const json::value& line : wanted) {
    int count = 0;
    for (std::size_t index = 0; index < found.size(); ++index) {
      if (!matches_event(object_of(line), found[index], variant)) continue;
      expected[index] = true;
      ++count;
    }
    if (count == number(object_of(line), "count", 1)) continue;
    return "event " + json::serialize(line) + ": got " + std::to_string(count);
  }
  for (std::size_t index = 0; exact && index < found.size(); ++index) {
    if (!expected[index]) {
      return "event " + found[index].reason + " \"" + found[index].message + "\": expected none";
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::cases
