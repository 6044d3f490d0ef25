#include "agent/edge/cache/cache_query.h"

#include "sync/objects/list_options.h"
#include "sync/objects/selector.h"
#include "sync/watch/pages.h"

namespace holdfast::agent {
namespace {

std::string canonical_fields(const std::string& text) {
  const auto query = sync::objects::FieldQuery::parse(text);
  return query ? query->text() : text;
}

std::string canonical_labels(const std::string& text) {
  const auto query = sync::objects::LabelQuery::parse(text);
  return query ? query->text() : text;
}

}  // namespace

CacheQuery query_of(const RoutedRequest& request, sync::wire::Encoding encoding) {
  const sync::objects::RequestInfo& info = request.info;
  // In a RequestInfo, namespaces have themselves as namespace, but they are cluster-scoped.
  const bool cluster_scoped = info.resource == "namespaces" || info.resource == "nodes";
  CacheQuery query{.request = request,
                   .key = {.owner = request.caller.owner,
                           .group = info.group,
                           .version = info.version,
                           .resource = info.resource,
                           .namespace_name = cluster_scoped ? "" : info.namespace_name,
                           .label_selector = canonical_labels(info.label_selector),
                           .field_selector = canonical_fields(info.field_selector),
                           .encoding = std::string(to_string(encoding))}};
  if (request.is_get()) query.key.field_selector = "metadata.name=" + info.name;
  const std::string_view version = request.query.get("resourceVersion");
  const auto options = sync::objects::parse_list_options(request.query);
  const bool exact = options && consistency_of(*options) == sync::objects::Consistency::exact;
  // A local version or page is known only to this agent.
  const bool local = sync::objects::is_local_version(version) ||
                     sync::watch::parse_page_token(request.query.get("continue")).has_value();
  const bool newest = (!request.is_watch() && (version.empty() || (request.is_list() && exact))) ||
                      request.query.has("continue") || request.inner_accept.prefers_transformed();
  query.newest = newest && !local;
  return query;
}

}  // namespace holdfast::agent
