#include "agent/edge/cache/cache_query.h"

#include "sync/objects/selector.h"
#include "sync/watch/pages.h"

namespace holdfast::agent {
namespace {

using sync::objects::Consistency;

std::string canonical_fields(const std::string& text) {
  const auto query = sync::objects::FieldQuery::parse(text);
  return query ? query->text() : text;
}

std::string canonical_labels(const std::string& text) {
  const auto query = sync::objects::LabelQuery::parse(text);
  return query ? query->text() : text;
}

void read_options(CacheQuery& query) {
  const RoutedRequest& request = query.request;
  if (request.is_get()) {
    query.options.resource_version = request.query.get("resourceVersion");
    const auto version = sync::objects::parse_asked_version(query.options.resource_version);
    if (!version) query.refusal = sync::wire::status::unexplained(version.error().what);
  } else {
    auto accepted = sync::objects::accept_list_options(request.query, request.is_watch());
    if (accepted) {
      query.options = *std::move(accepted);
    } else {
      query.refusal = std::move(accepted.error());
    }
  }
  query.version = sync::objects::parse_version(query.options.resource_version).value_or(0);
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
  read_options(query);
  const sync::objects::ListOptions& options = query.options;
  const bool is_page = !options.continue_token.empty();
  // A local version or page is known only to this agent.
  const bool local = sync::objects::is_local(query.version) ||
                     sync::watch::parse_page_token(options.continue_token).has_value();
  const bool not_cached = !request.is_watch() && (options.resource_version.empty() ||
                                                  consistency_of(options) == Consistency::exact);
  const bool newest = not_cached || is_page || request.inner_accept.prefers_transformed();
  query.newest = newest && !local;
  return query;
}

}  // namespace holdfast::agent
