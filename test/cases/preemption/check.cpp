#include "test/cases/preemption/check.h"

#include <algorithm>

#include "sync/wire/json.h"

namespace holdfast::cases {

const json::value* Check::wants(std::string_view key) {
  const json::value* found = expected_.if_contains({key.data(), key.size()});
  if (found != nullptr) known_.emplace(key);
  return found;
}

const json::value& Check::needs(std::string_view key) {
  const json::value* found = wants(key);
  if (found == nullptr) throw Malformed(expected_, key, "is missing");
  return *found;
}

void Check::fail(std::string text) {
  if (!first_) first_ = std::move(text);
}

void Check::differs(std::string_view key, const json::value& wanted, const json::value& found) {
  fail(std::string(key) + ": expected " + sync::wire::serialize(wanted) + ", got " +
       sync::wire::serialize(found));
}

void Check::equal(std::string_view key, const json::value& found) {
  const json::value* wanted = wants(key);
  if (wanted != nullptr && !same(*wanted, found)) differs(key, *wanted, found);
}

void Check::list(std::string_view key, const Names& found) { equal(key, to_json(found)); }

void Check::set(std::string_view key, const Names& found) {
  const json::value* wanted = wants(key);
  if (wanted == nullptr) return;
  const bool equal = wanted->is_array() && sorted(names_in(expected_, key)) == sorted(found);
  if (!equal) differs(key, *wanted, to_json(sorted(found)));
}

void Check::one_of(std::string_view key, const json::value& found) {
  const json::value* wanted = wants(key);
  if (wanted == nullptr) return;
  const json::array& list = array_in(expected_, key);
  if (std::find(list.begin(), list.end(), found) == list.end()) differs(key, *wanted, found);
}

void Check::one_set_of(std::string_view key, const Names& found) {
  const json::value* wanted = wants(key);
  if (wanted == nullptr) return;
  for (const json::value& each : array_in(expected_, key)) {
    const json::object one{{"names", each}};
    if (sorted(names_in(one, "names")) == sorted(found)) return;
  }
  differs(key, *wanted, to_json(sorted(found)));
}

void Check::status(std::string_view key, const sync::schedule::FitStatus& found) {
  const json::value* wanted = wants(key);
  if (wanted == nullptr) return;
  if (wanted->is_null() ? found.ok() : same(*wanted, to_json(found))) return;
  differs(key, *wanted, to_json(found));
}

Difference Check::result() const {
  if (first_) return first_;
  for (const auto& field : expected_) {
    const std::string_view key(field.key().data(), field.key().size());
    if (!known_.contains(key)) throw Malformed(field.value(), "unknown expectation");
  }
  return std::nullopt;
}

json::value to_json(const sync::schedule::FitStatus& fit_status) {
  return json::object{{"code", to_string(fit_status.code)},
                      {"reasons", to_json(fit_status.reasons)}};
}

json::value to_json(const Names& names) {
  json::array array;
  for (const std::string& name : names) array.emplace_back(name);
  return array;
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

Names names_in(const json::object& object, std::string_view name) { return texts_in(object, name); }

}  // namespace holdfast::cases
