#include "agent/edge/cache/local_scope.h"

#include "agent/edge/route/caller.h"
#include "platform/text.h"
#include "sync/autonomy/references.h"

namespace holdfast::agent {

std::string_view LocalScope::object_name() const {
  constexpr std::string_view by_name = "metadata.name=";
  const std::string_view fields = key_.field_selector;
  const bool one = key_.label_selector.empty() && fields.starts_with(by_name) &&
                   fields.find(',') == std::string_view::npos;
  return one ? fields.substr(by_name.size()) : "";
}

FetchMode LocalScope::default_fetch_mode() const {
  const bool of_node = key_.owner == node_owner && !object_name().empty();
  return of_node && sync::autonomy::kind_got_by_name(key_.group, key_.resource)
             ? FetchMode::get
             : FetchMode::list_watch;
}

std::string LocalScope::path() const {
  // The key holds the decoded parts of the caller's path, so they are encoded again.
  std::string path = key_.group.empty() ? "/api/" : "/apis/" + percent_encode(key_.group) + "/";
  path += percent_encode(key_.version);
  if (!key_.namespace_name.empty()) path += "/namespaces/" + percent_encode(key_.namespace_name);
  return path + "/" + percent_encode(key_.resource);
}

sync::watch::Selection selection_of(const store::ScopeKey& key) {
  return {.group = key.group,
          .resource = key.resource,
          .namespace_name = key.namespace_name,
          .label_selector = key.label_selector,
          .field_selector = key.field_selector};
}

}  // namespace holdfast::agent
