#include "agent/lab/rules/field_set.h"

#include <boost/json.hpp>

#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// One step as part of a printed path.
std::string printed_step(std::string_view step) {
  const std::string_view rest = step.size() < 2 ? std::string_view() : step.substr(2);
  if (step.starts_with("f:")) return "." + std::string(rest);
  if (step.starts_with("v:")) return "[=" + std::string(rest) + "]";
  const auto parsed = sync::wire::parse_json(rest);
  if (!step.starts_with("k:") || !parsed || !parsed->is_object()) {
    return "[" + std::string(rest) + "]";
  }
  std::string text = "[";
  for (const json::key_value_pair& pair : parsed->get_object()) {
    if (text.size() > 1) text += ',';
    text.append(pair.key()).append("=").append(sync::wire::serialize(pair.value()));
  }
  return text + "]";
}

void collect(const FieldSet& set, const std::string& path, std::vector<std::string>& found) {
  if (set.member) found.push_back(path);
  for (const auto& [step, child] : set.children) collect(child, path + printed_step(step), found);
}

}  // namespace

const FieldSet* FieldSet::child(std::string_view step) const {
  const auto found = children.find(step);
  return found == children.end() ? nullptr : &found->second;
}

FieldSet unite(FieldSet left, const FieldSet& right) {
  left.member = left.member || right.member;
  for (const auto& [step, child] : right.children) {
    const auto found = left.children.find(step);
    if (found == left.children.end()) {
      left.children.emplace(step, child);
    } else {
      found->second = unite(std::move(found->second), child);
    }
  }
  return left;
}

FieldSet subtract(FieldSet left, const FieldSet& right) {
  if (right.member) left.member = false;
  for (const auto& [step, child] : right.children) {
    const auto found = left.children.find(step);
    if (found == left.children.end()) continue;
    found->second = subtract(std::move(found->second), child);
    if (found->second.empty()) left.children.erase(found);
  }
  return left;
}

FieldSet intersect(const FieldSet& left, const FieldSet& right) {
  FieldSet both{.member = left.member && right.member};
  for (const auto& [step, child] : left.children) {
    const FieldSet* other = right.child(step);
    if (other == nullptr) continue;
    FieldSet common = intersect(child, *other);
    if (!common.empty()) both.children.emplace(step, std::move(common));
  }
  return both;
}

json::object to_fields_v1(const FieldSet& set) {
  json::object fields;
  // A leaf is {}; a place that is in the set together with others below it has a "." for itself.
  if (set.member && !set.children.empty()) fields["."] = json::object();
  for (const auto& [step, child] : set.children) fields[step] = to_fields_v1(child);
  return fields;
}

FieldSet from_fields_v1(const json::object& fields) {
  FieldSet set{.member = fields.contains(".")};
  for (const json::key_value_pair& pair : fields) {
    if (pair.key() == ".") continue;
    FieldSet child = from_fields_v1(sync::wire::as_object(pair.value()));
    if (child.children.empty()) child.member = true;
    set.children.emplace(std::string(pair.key()), std::move(child));
  }
  return set;
}

std::vector<std::string> paths_of(const FieldSet& set) {
  std::vector<std::string> found;
  collect(set, "", found);
  return found;
}

std::string field_step(std::string_view name) { return "f:" + std::string(name); }

std::string value_step(const json::value& value) { return "v:" + sync::wire::serialize(value); }

std::string key_step(const json::object& item, const std::vector<std::string>& keys) {
  std::map<std::string_view, json::value> sorted;
  for (const std::string& key : keys) {
    const json::value* value = item.if_contains(key);
    if (value != nullptr) {
      sorted[key] = *value;
    } else {
      sorted[key] = key == "protocol" ? "TCP" : "";
    }
  }
  json::object made;
  for (auto& [key, value] : sorted) made[key] = std::move(value);
  return "k:" + sync::wire::serialize(made);
}

}  // namespace holdfast::agent::lab
