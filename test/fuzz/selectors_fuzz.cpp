// Label and field selectors: the canonical text reads back as the same selector, has the same
// canonical text and selects the same objects.

#include "platform/check.h"
#include "sync/objects/selector.h"
#include "test/fuzz/pieces.h"

namespace holdfast::sync {
namespace {

// Label sets that the requirements may distinguish: an empty one, and for each key one with each of
// its values and one with another value.
std::vector<StringMap> labels_for(const objects::LabelQuery& query) {
  std::vector<StringMap> all(1);
  StringMap together;
  for (const objects::LabelRequirement& requirement : query.requirements()) {
    all.emplace_back().set(requirement.key, "other");
    for (const std::string& value : requirement.values) {
      all.emplace_back().set(requirement.key, value);
      together.set(requirement.key, value);
    }
  }
  all.push_back(together);
  return all;
}

void check_label_query(std::string_view text) {
  const auto query = objects::LabelQuery::parse(text);
  if (!query) return;
  const auto again = objects::LabelQuery::parse(query->text());
  CHECK(again.has_value() && *again == *query && again->text() == query->text());
  for (const StringMap& labels : labels_for(*query)) {
    CHECK(query->matches(labels) == again->matches(labels));
    CHECK(!query->matches_everything() || query->matches(labels));
    for (const objects::LabelRequirement& requirement : query->requirements()) {
      CHECK(!query->matches(labels) || requirement.matches(labels));
      const auto exact = query->exact(requirement.key);
      CHECK(!exact || !query->matches(labels) || labels.get(requirement.key) == *exact);
    }
  }
}

void check_field_query(std::string_view text) {
  const auto query = objects::FieldQuery::parse(text);
  if (!query) return;
  const auto again = objects::FieldQuery::parse(query->text());
  CHECK(again.has_value() && *again == *query && again->text() == query->text());
  StringMap values;
  for (const objects::FieldRequirement& requirement : query->requirements()) {
    values.set(requirement.field, requirement.value);
  }
  CHECK(query->matches(values) == again->matches(values));
  constexpr std::string_view pod =
      R"({"metadata":{"name":"web","namespace":"default"},"spec":{"nodeName":"edge-1"}})";
  const auto found = field_values("", "pods", *query, pod);
  CHECK(found.has_value() == check_fields("", "pods", *query).has_value());
  if (found) CHECK(found->size() <= query->requirements().size());
}

}  // namespace
}  // namespace holdfast::sync

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = holdfast::test::text_of(data, size);
  holdfast::sync::check_label_query(text);
  holdfast::sync::check_field_query(text);
  return 0;
}
