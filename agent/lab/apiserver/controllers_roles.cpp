// The default roles of RBAC, and ClusterRoles that collect the rules of others.

#include <boost/json.hpp>

#include "agent/lab/apiserver/controllers.h"
#include "agent/lab/loops/aggregation.h"
#include "agent/lab/rules/default_roles.h"
#include "agent/lab/rules/rbac.h"
#include "platform/log.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

void change_role(Editor& editor, const sync::printing::Resource& resource, const json::object& role,
                 const Editor::Change& change) {
  const Target target{sync::wire::namespace_of(role), sync::wire::name_of(role)};
  const auto written = editor.update(resource, target, Part::object, change);
  if (written) return;
  log_warn("role update", {{"name", target.name}, {"why", written.error().message}});
}

}  // namespace

void Controllers::create_roles() {
  for (json::object& role : default_roles()) {
    const std::string kind(sync::wire::dig_text(role, {"kind"}));
    const sync::printing::Resource& resource = sync::printing::known_kind(rbac_group, kind);
    const StoredPtr stored = editor_.registry().find(resource, sync::wire::namespace_of(role),
                                                     sync::wire::name_of(role));
    if (!stored) {
      create(rbac_group, kind, std::move(role));
      continue;
    }
    if (role.contains("roleRef")) continue;  // Its subjects are the administrator's.
    change_role(editor_, resource, role, [&role](const json::object& old) -> Answer<json::object> {
      return with_default_rules(old, role);
    });
  }
}

void Controllers::aggregate_roles() {
  const std::vector<StoredPtr> roles = list(rbac_group, "ClusterRole");
  Objects all;
  for (const StoredPtr& role : roles) all.push_back(&role->object);
  for (const json::object* role : all) {
    const auto rules = aggregated_rules(*role, all);
    if (!rules) continue;
    change_role(editor_, sync::printing::known_kind(rbac_group, "ClusterRole"), *role,
                [&rules](const json::object& old) -> Answer<json::object> {
                  json::object made = old;
                  made["rules"] = *rules;
                  return made;
                });
  }
}

}  // namespace holdfast::agent::lab
