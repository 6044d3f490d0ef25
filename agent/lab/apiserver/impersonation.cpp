#include "agent/lab/apiserver/impersonation.h"

#include <algorithm>

#include "agent/lab/apiserver/nodes.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::string_view extra_prefix = "impersonate-extra-";
constexpr std::string_view account_prefix = "system:serviceaccount:";

sync::objects::RequestInfo impersonating(std::string_view resource, std::string_view name) {
  sync::objects::RequestInfo info;
  info.is_resource = true;
  info.verb = "impersonate";
  info.version = "v1";
  info.resource = resource;
  info.name = name;
  return info;
}

struct Asked {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<sync::objects::RequestInfo> rights;  // what the caller must be allowed
};

// "NAMESPACE:NAME" of a service account's user; "" for other users.
std::string_view account_of(std::string_view user) {
  if (!user.starts_with(account_prefix)) return {};
  const std::string_view rest = user.substr(account_prefix.size());
  const std::size_t colon = rest.find(':');
  const bool valid = colon != std::string_view::npos && colon > 0 && colon + 1 < rest.size() &&
                     rest.find(':', colon + 1) == std::string_view::npos;
  return valid ? rest : std::string_view();
}

void ask_extra(Asked& asked, std::string_view header, std::string_view value) {
  const std::string key(header.substr(extra_prefix.size()));
  sync::objects::RequestInfo info = impersonating("userextras", value);
  info.group = "authentication.k8s.io";
  info.subresource = percent_decode(key, false).value_or(key);
  asked.rights.push_back(std::move(info));
}

Asked read_headers(const http::Headers& headers) {
  Asked asked;
  asked.user = headers.get("Impersonate-User");
  asked.uid = headers.get("Impersonate-Uid");
  for (const auto& [name, value] : headers) {
    const std::string lower = to_lower(name);
    if (lower == "impersonate-group") {
      asked.groups.emplace_back(value);
      asked.rights.push_back(impersonating("groups", value));
    } else if (lower.starts_with(extra_prefix)) {
      ask_extra(asked, lower, value);
    }
  }
  if (!asked.uid.empty()) {
    sync::objects::RequestInfo info = impersonating("uids", asked.uid);
    info.group = "authentication.k8s.io";
    asked.rights.push_back(std::move(info));
  }
  return asked;
}

// The right to impersonate the user, and the groups that a service account has by itself.
void add_user(Asked& asked) {
  const std::string_view account = account_of(asked.user);
  if (account.empty()) {
    asked.rights.insert(asked.rights.begin(), impersonating("users", asked.user));
    return;
  }
  const std::size_t colon = account.find(':');
  sync::objects::RequestInfo info = impersonating("serviceaccounts", account.substr(colon + 1));
  info.namespace_name = account.substr(0, colon);
  if (asked.groups.empty()) {
    asked.groups = {"system:serviceaccounts", "system:serviceaccounts:" + info.namespace_name};
  }
  asked.rights.insert(asked.rights.begin(), std::move(info));
}

}  // namespace

Answer<Identity> acting_as(const Backend& backend, const http::Request& request,
                           const Identity& caller) {
  Asked asked = read_headers(request.headers);
  if (asked.user.empty()) {
    if (asked.rights.empty()) return caller;
    return refuse(sync::wire::status::bad_request(
        "requested groups, a uid or extra fields without impersonating a user"));
  }
  add_user(asked);
  for (const sync::objects::RequestInfo& right : asked.rights) {
    if (const auto allowed = authorize(backend, caller, right); !allowed)
      return refuse(allowed.error());
  }
  Identity who{asked.user, asked.uid, std::move(asked.groups)};
  const bool unknown = who.name == "system:anonymous";
  const bool stated =
      who.in_group("system:unauthenticated") || (!unknown && who.in_group("system:authenticated"));
  if (!stated) who.groups.emplace_back(unknown ? "system:unauthenticated" : "system:authenticated");
  return who;
}

}  // namespace holdfast::agent::lab
