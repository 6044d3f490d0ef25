#include "agent/lab/apiserver/access_reviews.h"

#include <boost/json.hpp>

#include "agent/lab/apiserver/rbac.h"
#include "agent/lab/rules/node_authorizer.h"
#include "agent/lab/rules/rbac_rule.h"
#include "platform/text.h"
#include "sync/wire/field_error.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

const json::value* resource_part(const json::object& asked) {
  return sync::wire::dig(asked, {"spec", "resourceAttributes"});
}
const json::value* path_part(const json::object& asked) {
  return sync::wire::dig(asked, {"spec", "nonResourceAttributes"});
}

// As upstream prints them.
std::string printed(const json::value& path) {
  const json::object& given = sync::wire::as_object(path);
  return json::serialize(json::object{{"Path", sync::wire::dig_text(given, {"path"})},
                                      {"Verb", sync::wire::dig_text(given, {"verb"})}});
}

void check_local(sync::wire::FieldErrors& errors, const Call& call, const json::object& asked) {
  const std::string_view space =
      sync::wire::dig_text(asked, {"spec", "resourceAttributes", "namespace"});
  if (resource_part(asked) != nullptr && space != call.name_space()) {
    errors.push_back(sync::wire::field::invalid("spec.resourceAttributes.namespace", space,
                                                "must match metadata.namespace"));
  }
  if (const json::value* path = path_part(asked)) {
    errors.push_back(sync::wire::field::invalid_raw("spec.nonResourceAttributes", printed(*path),
                                                    "disallowed on this kind of request"));
  }
}

sync::wire::FieldErrors check_review(const Call& call, const json::object& asked) {
  sync::wire::FieldErrors errors;
  const json::value* resource = resource_part(asked);
  const json::value* path = path_part(asked);
  if (resource != nullptr && path != nullptr) {
    errors.push_back(sync::wire::field::invalid_raw(
        "spec.nonResourceAttributes", printed(*path),
        "cannot be specified in combination with resourceAttributes"));
  }
  if (resource == nullptr && path == nullptr) {
    errors.push_back(sync::wire::field::invalid_raw(
        "spec.resourceAttributes", "null",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  const std::string_view kind = call.resource().kind;
  if (kind == "SelfSubjectAccessReview") return errors;
  if (sync::wire::dig_text(asked, {"spec", "user"}).empty() &&
      sync::wire::dig_list(asked, {"spec", "groups"}).empty()) {
    errors.push_back(sync::wire::field::invalid("spec.user", "",
                                                "at least one of user or group must be specified"));
  }
  if (kind == "LocalSubjectAccessReview") check_local(errors, call, asked);
  return errors;
}

Identity reviewed(const Call& call, const json::object& asked) {
  if (call.resource().kind == "SelfSubjectAccessReview") return call.caller;
  Identity subject{std::string(sync::wire::dig_text(asked, {"spec", "user"})),
                   std::string(sync::wire::dig_text(asked, {"spec", "uid"})),
                   {}};
  for (const json::value& group : sync::wire::dig_list(asked, {"spec", "groups"})) {
    subject.groups.emplace_back(sync::wire::as_text(group));
  }
  return subject;
}

// The request that the review asks about.
sync::objects::RequestInfo asked_request(const json::object& asked) {
  sync::objects::RequestInfo info;
  const auto text = [&asked](std::string_view part, std::string_view field) {
    return std::string(sync::wire::dig_text(asked, {"spec", part, field}));
  };
  info.is_resource = resource_part(asked) != nullptr;
  if (!info.is_resource) {
    info.path = text("nonResourceAttributes", "path");
    info.verb = text("nonResourceAttributes", "verb");
    return info;
  }
  info.verb = text("resourceAttributes", "verb");
  info.group = text("resourceAttributes", "group");
  info.version = text("resourceAttributes", "version");
  info.resource = text("resourceAttributes", "resource");
  info.subresource = text("resourceAttributes", "subresource");
  info.name = text("resourceAttributes", "name");
  info.namespace_name = text("resourceAttributes", "namespace");
  return info;
}

json::object copied(const json::object& rule, std::initializer_list<std::string_view> fields) {
  json::object copy;
  for (const std::string_view field : fields) copy[field] = sync::wire::dig_list(rule, {field});
  return copy;
}

}  // namespace

Answer<json::object> access_status(const Backend& backend, const Call& call,
                                   const json::object& asked) {
  const sync::wire::FieldErrors errors = check_review(call, asked);
  if (!errors.empty()) {
    // As upstream, which does not know the kind here.
    return refuse(sync::wire::status::invalid({call.info.group, ""}, "", errors));
  }
  const Verdict verdict = decide(backend, reviewed(call, asked), asked_request(asked));
  json::object status = {{"allowed", verdict.allowed}};
  if (!verdict.reason.empty()) status["reason"] = verdict.reason;
  return status;
}

Answer<json::object> rules_status(const Backend& backend, const Call& call,
                                  const json::object& asked) {
  const std::string_view space = sync::wire::dig_text(asked, {"spec", "namespace"});
  if (space.empty()) return refuse(sync::wire::status::bad_request("no namespace on request"));
  const bool node = backend.node_authorizer && !node_of(call.caller).empty();
  HeldRules held;
  if (call.caller.in_group("system:masters") || (!backend.secured && !node)) {
    held.rules = full_authority();
  } else if (backend.rbac) {
    held = rules_of(call.caller, space, role_objects(backend.registry));
  } else {
    held.problems.emplace_back("holdfast-lab lists rules only with --rbac");
  }
  if (node) held.problems.emplace_back("node authorizer does not support user rule resolution");
  json::array resources;
  json::array paths;
  for (const json::object& rule : held.rules) {
    if (!sync::wire::dig_list(rule, {"resources"}).empty())
      resources.push_back(copied(rule, {"verbs", "apiGroups", "resources", "resourceNames"}));
    if (!sync::wire::dig_list(rule, {"nonResourceURLs"}).empty())
      paths.push_back(copied(rule, {"verbs", "nonResourceURLs"}));
  }
  json::object status = {{"resourceRules", std::move(resources)},
                         {"nonResourceRules", std::move(paths)},
                         {"incomplete", !held.problems.empty()}};
  if (!held.problems.empty()) status["evaluationError"] = join(held.problems, ", ");
  return status;
}

}  // namespace holdfast::agent::lab
