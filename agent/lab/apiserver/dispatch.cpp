#include "agent/lab/apiserver/dispatch.h"

#include "agent/lab/apiserver/apiserver.h"
#include "agent/lab/apiserver/compress.h"
#include "agent/lab/apiserver/impersonation.h"
#include "agent/lab/apiserver/kubelet_client.h"
#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/apiserver/transcode.h"
#include "platform/http/date.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::lab {
namespace {

// The caller's identity: from the client certificate, otherwise from a known token, otherwise
// anonymous. As upstream, a certificate takes precedence over a token, so a proxy that forwards the
// tokens of others must not use a client certificate.
Answer<Identity> identify(const Backend& backend, const http::Request& request) {
  if (!request.peer.common_name.empty()) {
    Identity identity{request.peer.common_name, "", request.peer.organizations};
    identity.groups.emplace_back("system:authenticated");
    return identity;
  }
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view header = request.headers.get("Authorization");
  if (header.starts_with(scheme)) {
    if (const Identity* known = backend.tokens.find(header.substr(scheme.size()))) {
      return *known;
    }
    if (backend.secured) return refuse(sync::wire::status::unauthorized());
  }
  return anonymous();
}

// Finds the resource. Its 404 has no details, as upstream's for an unknown resource.
Answer<View> find_view(const Catalog& catalog, const sync::objects::RequestInfo& info) {
  View view;
  view.resource = catalog.find_resource(info.group, info.version, info.resource);
  if (view.resource == nullptr) return refuse(sync::wire::status::generic(404));
  view.custom = catalog.share(*view.resource);
  view.version = view.resource->version(info.version);
  return view;
}

bool has_version(const Catalog& catalog, const sync::objects::RequestInfo& info) {
  for (const std::string& version : catalog.versions_of(info.group)) {
    if (version == info.version) return (info.api_prefix == "api") == info.group.empty();
  }
  return false;
}

Answer<sync::printing::IncludeObject> parse_include(std::string_view text) {
  if (text.empty() || text == "Metadata") return sync::printing::IncludeObject::metadata;
  if (text == "None") return sync::printing::IncludeObject::none;
  if (text == "Object") return sync::printing::IncludeObject::object;
  return refuse(sync::wire::status::bad_request("unrecognized includeObject value: \"" +
                                                std::string(text) + "\""));
}

// Whether the resource or subresource supports the verb.
Answer<bool> check_verb(const Call& call) {
  const auto& parts = call.info.parts;
  if (parts.size() > 3) return refuse(sync::wire::status::generic(404));
  if (!call.info.subresource.empty() && call.subresource == nullptr) {
    return refuse(sync::wire::status::generic(404));
  }
  const sync::printing::Resource& resource = call.resource();
  const sync::printing::Verbs verbs =
      call.subresource != nullptr ? call.subresource->verbs : resource.verbs;
  const bool named_create =
      call.info.verb == "create" && parts.size() == 2 && call.subresource == nullptr;
  // A path without a namespace can be listed and watched, but not written.
  const bool nowhere = resource.namespaced && call.info.namespace_name.empty() &&
                       call.info.verb != "list" && call.info.verb != "watch";
  if (named_create || nowhere || !sync::printing::allows(verbs, call.info.verb)) {
    return refuse(sync::wire::status::generic(405));
  }
  return true;
}

Answer<bool> check_dry_run(Call& call) {
  const std::string_view text = call.query.get("dryRun");
  if (!text.empty() && text != "All") {
    constexpr std::string_view known[] = {"All"};
    const sync::wire::FieldError error = sync::wire::field::not_supported("dryRun", text, known);
    return refuse(sync::wire::status::bad_request(error.text()));
  }
  call.dry_run = !text.empty();
  return true;
}

// Fills in the options from the query and the headers.
Answer<bool> parse_call(Call& call) {
  call.accept = sync::wire::Accept::parse(call.request.headers.get("Accept"));
  const auto form = call.accept.json_form();
  if (!form) return refuse(sync::wire::status::generic(406));
  call.view.form = *form;
  const auto include = parse_include(call.query.get("includeObject"));
  if (!include) return refuse(include.error());
  call.view.include = *include;
  const auto validation = parse_field_validation(call.query.get("fieldValidation"));
  if (!validation) return refuse(validation.error());
  call.validation = *validation;
  auto manager =
      read_field_manager(call.query.get("fieldManager"), call.request.headers.get("User-Agent"),
                         is_apply(call), call.query.flag("force"));
  if (!manager) return refuse(manager.error());
  call.field_manager = *std::move(manager);
  return check_dry_run(call);
}

Reply serve_subresource(Backend& backend, const Call& call) {
  const std::string_view name = call.subresource->name;
  const std::string_view verb = call.info.verb;
  if (name == "log" || name == "exec" || name == "portforward") return connect_pod(backend, call);
  if (name == "scale") {
    return verb == "get" ? get_scale(backend, call) : change_scale(backend, call);
  }
  if (verb == "create") {
    // Tokens, evictions and bindings also count as new content of their namespace.
    const auto alive =
        backend.editor.check_namespace(call.resource(), call.info.name, call.name_space());
    if (!alive) return refuse(alive.error());
  }
  if (name == "binding") return bind(backend, call);
  if (name == "eviction") return evict(backend, call);
  if (name == "token") return issue_token(backend, call);
  if (name == "finalize") return finalize(backend, call);
  if (verb == "get") return get(backend, call);
  return verb == "patch" ? patch(backend, call) : update(backend, call);
}

Reply serve_verb(Backend& backend, const Call& call) {
  const std::string_view verb = call.info.verb;
  if (call.subresource != nullptr) return serve_subresource(backend, call);
  if (verb == "get") return get(backend, call);
  if (verb == "list") return list(backend, call);
  if (verb == "watch") return watch(backend, call);
  if (verb == "update") return update(backend, call);
  if (verb == "patch") return patch(backend, call);
  if (verb == "delete") return remove(backend, call);
  if (verb == "deletecollection") return remove_collection(backend, call);
  if (call.resource().kind == "Binding") return bind(backend, call);
  const bool stored = sync::printing::allows(call.resource().verbs, "get");
  return stored ? create(backend, call) : review(backend, call);
}

Reply serve_resource(Backend& backend, Call call) {
  auto view = find_view(backend.registry.catalog(), call.info);
  if (!view) return refuse(view.error());
  call.view = *view;
  if (!call.info.subresource.empty()) {
    call.subresource = call.resource().subresource(call.info.subresource);
  }
  if (const auto known = check_verb(call); !known) return refuse(known.error());
  if (const auto understood = parse_call(call); !understood) return refuse(understood.error());
  auto reply = serve_verb(backend, call);
  if (call.onward->has_value()) return reply;
  if (reply && wants_protobuf(call)) reply = in_protobuf(*std::move(reply), call.view.form);
  const std::string_view warning = call.view.version->warning;
  if (reply && !warning.empty()) add_warnings(*reply, {std::string(warning)});
  return reply;
}

// GET /metrics. With a token file only administrators may read it; nodes may not.
Reply serve_metrics(Backend& backend, const Identity& caller,
                    const sync::objects::RequestInfo& info) {
  if (backend.secured && !caller.in_group("system:masters")) {
    sync::wire::ApiStatus refused = sync::wire::status::generic(403);
    refused.message =
        "forbidden: User \"" + caller.name + "\" cannot get path \"" + info.path + "\"";
    return refuse(std::move(refused));
  }
  http::Response response{.status = 200, .headers = {}, .body = {}};
  response.body = backend.metrics->text(backend.registry, backend.watches.size());
  response.headers.set("Content-Type",
                       std::string(Metrics::content_type) + "; escaping=underscores");
  return response;
}

// Answers one request. Sets the fields of `audited` as soon as they are known. Sets `onward` if a
// kubelet has the answer.
Reply answer(Backend& backend, const std::string& address, const http::Request& request,
             Audited& audited, std::optional<NodeRequest>& onward) {
  if (request.body.size() > body_bytes_max) {
    return refuse(
        sync::wire::status::entity_too_large("limit is " + std::to_string(body_bytes_max)));
  }
  auto info = sync::objects::parse_request(http::to_string(request.method), request.path(),
                                           request.query());
  if (!info) return refuse(sync::wire::status::bad_request(info.error().what));
  audited.info = *info;
  auto query = Query::parse(request.query());
  if (!query) return refuse(sync::wire::status::bad_request(query.error().what));
  const std::string_view timeout = query->get("timeout");
  if (!timeout.empty() && !parse_duration(timeout)) {
    return refuse(sync::wire::status::bad_request(
        "invalid timeout specified in the request URL - time: invalid duration \"" +
        std::string(timeout) + "\""));
  }
  auto caller = identify(backend, request);
  if (!caller) return refuse(caller.error());
  audited.caller = *caller;
  const bool unknown = *caller == anonymous();
  caller = acting_as(backend, request, audited.caller);
  if (!caller && unknown && backend.refuses_anonymous) {
    return refuse(sync::wire::status::unauthorized());
  }
  if (!caller) return refuse(caller.error());
  if (!(*caller == audited.caller)) audited.impersonated = caller->name;
  const auto allowed = authorize(backend, *caller, *info);
  if (!allowed && unknown && backend.refuses_anonymous) {
    return refuse(sync::wire::status::unauthorized());
  }
  if (!allowed) return refuse(allowed.error());
  if (!info->is_resource && info->path == "/metrics" && info->verb == "get") {
    return serve_metrics(backend, *caller, *info);
  }
  if (!info->is_resource || !has_version(backend.registry.catalog(), *info)) {
    return serve_document(backend.registry.catalog(), *info, *query, request.headers.get("Accept"),
                          address);
  }
  return serve_resource(backend, Call{.request = request,
                                      .query = *std::move(query),
                                      .info = *std::move(info),
                                      .caller = *std::move(caller),
                                      .view = {},
                                      .onward = &onward});
}

// As upstream, a read waits for a version that is ahead.
constexpr Duration version_wait = std::chrono::seconds(3);
constexpr Duration version_poll = std::chrono::milliseconds(100);

}  // namespace

asio::awaitable<http::Response> dispatch(Backend& backend, const std::string& address,
                                         const http::Request& request) {
  const WallTime received = backend.clock.wall();
  const MonoTime began = backend.clock.mono();
  Audited audited;
  std::optional<NodeRequest> onward;
  Reply reply = answer(backend, address, request, audited, onward);
  while (!reply && sync::wire::version_is_ahead(reply.error()) &&
         backend.clock.mono() < began + version_wait) {
    co_await loop::wait_for(version_poll);
    reply = answer(backend, address, request, audited, onward);
  }
  if (reply && onward) reply = co_await backend.kubelets->ask(request, *std::move(onward));
  http::Response response = reply ? *std::move(reply) : reply_status(reply.error());
  maybe_compress(request, audited.info.verb, response);
  response.headers.set("Date", http::format_date(received));
  // Every answer has an audit id; the caller may provide it.
  const std::string_view audit_id = request.headers.get("Audit-ID");
  response.headers.set("Audit-Id",
                       audit_id.empty() ? backend.random.uuid() : std::string(audit_id));
  if (!response.headers.has("Cache-Control")) {
    response.headers.set("Cache-Control", "no-cache, private");
  }
  const sync::objects::RequestInfo& info = audited.info;
  const auto* resource =
      backend.registry.catalog().find_resource(info.group, info.version, info.resource);
  const bool known =
      resource != nullptr && (info.subresource.empty() || resource->subresource(info.subresource));
  backend.metrics->record({.info = info,
                           .is_known = known,
                           .is_apply = is_apply_request(info, request),
                           .status = response.status,
                           .took = backend.clock.mono() - began});
  if (backend.audit) backend.audit->record(received, request, audited, response.status);
  co_return response;
}

}  // namespace holdfast::agent::lab
