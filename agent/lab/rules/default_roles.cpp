#include "agent/lab/rules/default_roles.h"

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "agent/lab/rules/rbac.h"
#include "agent/lab/rules/rbac_rule.h"
#include "embedded/default_roles.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view aggregate = "rbac.authorization.k8s.io/aggregate-to-";
constexpr std::string_view autoupdate = "rbac.authorization.kubernetes.io/autoupdate";

json::array list_of(std::string_view words) {
  json::array list;
  for (const std::string_view word : split(words, ','))
    list.emplace_back(word == "core" ? "" : word);
  return list;
}

json::object begin(std::string_view kind, std::string_view name_space, std::string_view name) {
  json::object metadata = {{"name", name}};
  if (!name_space.empty()) metadata["namespace"] = name_space;
  metadata["labels"] = json::object{{"kubernetes.io/bootstrapping", "rbac-defaults"}};
  metadata["annotations"] = json::object{{autoupdate, "true"}};
  return {{"kind", kind},
          {"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"metadata", std::move(metadata)}};
}

// "into:edit" labels a role whose rules others collect, "from:view" is for a role that collects.
void add_option(json::object& role, std::string_view option) {
  const bool into = option.starts_with("into:");
  CHECK(into || option.starts_with("from:"));
  const std::string label = std::string(aggregate) + std::string(option.substr(5));
  if (into) {
    sync::wire::make_object(role, {"metadata", "labels"})[label] = "true";
    return;
  }
  const json::object selector = {{"matchLabels", json::object{{label, "true"}}}};
  role["aggregationRule"] = json::object{{"clusterRoleSelectors", json::array({selector})}};
}

json::object rule_from(const std::vector<std::string_view>& words) {
  CHECK(words.size() >= 2 && words.size() <= 4);
  json::object rule = {{"verbs", list_of(words[0])}};
  if (words.size() == 2) {
    rule["nonResourceURLs"] = list_of(words[1]);
    return rule;
  }
  rule["apiGroups"] = list_of(words[1]);
  rule["resources"] = list_of(words[2]);
  if (words.size() == 4) rule["resourceNames"] = list_of(words[3]);
  return rule;
}

json::object subject_from(std::string_view word) {
  const std::size_t colon = word.find(':');
  CHECK(colon != std::string_view::npos);
  const std::string_view kind = word.substr(0, colon);
  const std::string_view name = word.substr(colon + 1);
  if (kind == "account") {
    const std::size_t slash = name.find('/');
    return {{"kind", "ServiceAccount"},
            {"name", name.substr(slash + 1)},
            {"namespace", name.substr(0, slash)}};
  }
  CHECK(kind == "user" || kind == "group");
  return {{"kind", kind == "user" ? "User" : "Group"}, {"apiGroup", rbac_group}, {"name", name}};
}

json::object object_from(const std::vector<std::string_view>& words) {
  const std::string_view type = words[0];
  const bool cluster = type.starts_with("cluster");
  const bool binds = type.ends_with("binding");
  const std::string kind = std::string(cluster ? "ClusterRole" : "Role") + (binds ? "Binding" : "");
  std::size_t at = cluster ? 1 : 2;
  CHECK(words.size() > at);
  json::object made = begin(kind, cluster ? std::string_view() : words[1], words[at]);
  if (!binds) {
    made["rules"] = json::array();
    for (++at; at < words.size(); ++at) add_option(made, words[at]);
    return made;
  }
  const std::size_t slash = words.at(++at).find('/');
  made["roleRef"] = json::object{{"apiGroup", rbac_group},
                                 {"kind", words[at].substr(0, slash)},
                                 {"name", words[at].substr(slash + 1)}};
  json::array subjects;
  for (++at; at < words.size(); ++at) subjects.push_back(subject_from(words[at]));
  made["subjects"] = std::move(subjects);
  return made;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

void read_roles(std::string_view text, std::vector<json::object>& made) {
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (line.starts_with(' ')) {
      CHECK(!made.empty());
      made.back().at("rules").as_array().push_back(rule_from(words));
    } else {
      made.push_back(object_from(words));
    }
  }
}

}  // namespace

std::vector<json::object> default_roles() {
  std::vector<json::object> made;
  read_roles(embedded::default_roles_txt, made);
  read_roles(embedded::default_controller_roles_txt, made);
  return made;
}

json::object with_default_rules(json::object role, const json::object& by_default) {
  const json::object& notes = sync::wire::dig_object(role, {"metadata", "annotations"});
  if (sync::wire::dig_text(notes, {autoupdate}) == "false") return role;
  std::vector<json::object> held;
  for (const json::value& rule : sync::wire::dig_list(role, {"rules"}))
    held.push_back(sync::wire::as_object(rule));
  for (const json::value& rule : sync::wire::dig_list(by_default, {"rules"})) {
    const json::object& wanted = sync::wire::as_object(rule);
    if (missing_rights(held, {wanted}).empty()) continue;
    json::value& rules = role["rules"];
    if (!rules.is_array()) rules.emplace_array();
    rules.get_array().push_back(wanted);
  }
  return role;
}

}  // namespace holdfast::agent::lab
