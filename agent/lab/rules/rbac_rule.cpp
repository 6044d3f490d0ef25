#include "agent/lab/rules/rbac_rule.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>
#include <tuple>

#include "platform/text.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

bool lists(const json::object& rule, std::string_view field, std::string_view wanted) {
  for (const json::value& item : sync::wire::dig_list(rule, {field})) {
    if (sync::wire::as_text(item) == wanted) return true;
  }
  return false;
}

bool lists_or_all(const json::object& rule, std::string_view field, std::string_view wanted) {
  return lists(rule, field, "*") || lists(rule, field, wanted);
}

// "*/SUB" for "RESOURCE/SUB"; "" for a resource.
std::string any_with_subresource(std::string_view resource) {
  const std::size_t slash = resource.find('/');
  return slash == std::string_view::npos ? "" : "*" + std::string(resource.substr(slash));
}

bool lists_resource(const json::object& rule, std::string_view resource) {
  if (lists_or_all(rule, "resources", resource)) return true;
  const std::string any = any_with_subresource(resource);
  return !any.empty() && lists(rule, "resources", any);
}

bool path_covers(std::string_view held, std::string_view path) {
  if (held == path) return true;
  if (!held.ends_with('*')) return false;
  while (held.ends_with('*')) held.remove_suffix(1);
  return path.starts_with(held);
}

bool lists_path(const json::object& rule, std::string_view path) {
  for (const json::value& item : sync::wire::dig_list(rule, {"nonResourceURLs"})) {
    if (path_covers(sync::wire::as_text(item), path)) return true;
  }
  return false;
}

// The smallest part of a rule: one verb on one resource, of one name or all, or on one path.
struct Right {
  std::string group;
  std::string resource;
  std::string name;  // "": all
  std::string path;  // then the others are empty
  std::string verb;

  [[nodiscard]] auto place() const { return std::tie(group, resource, name, path); }
};

bool covers(const json::object& rule, const Right& right) {
  if (!lists_or_all(rule, "verbs", right.verb)) return false;
  if (!right.path.empty()) return lists_path(rule, right.path);
  if (!lists_or_all(rule, "apiGroups", right.group)) return false;
  if (!lists_resource(rule, right.resource)) return false;
  if (sync::wire::dig_list(rule, {"resourceNames"}).empty()) return true;
  return !right.name.empty() && lists(rule, "resourceNames", right.name);
}

std::vector<std::string> texts_of(const json::object& rule, std::string_view field) {
  std::vector<std::string> texts;
  for (const json::value& item : sync::wire::dig_list(rule, {field}))
    texts.emplace_back(sync::wire::as_text(item));
  return texts;
}

std::vector<Right> rights_of(const json::object& rule) {
  std::vector<Right> rights;
  std::vector<std::string> names = texts_of(rule, "resourceNames");
  if (names.empty()) names.emplace_back();
  for (const std::string& verb : texts_of(rule, "verbs")) {
    for (const std::string& group : texts_of(rule, "apiGroups")) {
      for (const std::string& resource : texts_of(rule, "resources")) {
        for (const std::string& name : names) rights.push_back({group, resource, name, {}, verb});
      }
    }
    for (const std::string& path : texts_of(rule, "nonResourceURLs"))
      rights.push_back({{}, {}, {}, path, verb});
  }
  return rights;
}

// {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}
std::string describe_rights(const Right& place, const std::vector<std::string>& verbs) {
  std::string text = "{";
  if (place.path.empty()) {
    text += "APIGroups:[" + sync::wire::quoted(place.group) + "], Resources:[" +
            sync::wire::quoted(place.resource) + "]";
  } else {
    text += "NonResourceURLs:[" + sync::wire::quoted(place.path) + "]";
  }
  if (!place.name.empty()) text += ", ResourceNames:[" + sync::wire::quoted(place.name) + "]";
  std::vector<std::string> quoted;
  quoted.reserve(verbs.size());
  for (const std::string& verb : verbs) quoted.push_back(sync::wire::quoted(verb));
  return text + ", Verbs:[" + join(quoted, " ") + "]}";
}

}  // namespace

bool rule_allows(const json::object& rule, const sync::objects::RequestInfo& info) {
  if (!info.is_resource)
    return covers(rule, {{}, {}, {}, info.path.empty() ? "/" : info.path, info.verb});
  const std::string resource =
      info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  return covers(rule, {info.group, resource, info.name, {}, info.verb});
}

std::vector<std::string> missing_rights(const std::vector<json::object>& held,
                                        const std::vector<json::object>& wanted) {
  const auto before = [](const Right& left, const Right& right) {
    return left.place() < right.place();
  };
  std::map<Right, std::vector<std::string>, decltype(before)> missing(before);
  for (const json::object& rule : wanted) {
    for (const Right& right : rights_of(rule)) {
      const bool has = std::any_of(held.begin(), held.end(), [&right](const json::object& one) {
        return covers(one, right);
      });
      if (!has) missing[right].push_back(right.verb);
    }
  }
  std::set<std::string> texts;
  for (const auto& [place, verbs] : missing) texts.insert(describe_rights(place, verbs));
  return {texts.begin(), texts.end()};
}

std::vector<json::object> full_authority() {
  const json::array all = {"*"};
  return {{{"verbs", all}, {"apiGroups", all}, {"resources", all}},
          {{"verbs", all}, {"nonResourceURLs", all}}};
}

}  // namespace holdfast::agent::lab
