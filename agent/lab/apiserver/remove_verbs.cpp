// delete and deletecollection.

#include <boost/json.hpp>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/apiserver/selection.h"
#include "platform/text.h"
#include "sync/objects/list_options.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

std::optional<std::string> text_at(const json::object& object, sync::wire::Path path) {
  const json::value* found = sync::wire::dig(object, path);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return std::string(found->get_string());
}

// As upstream, the options in the body override those in the query.
Answer<bool> read_body_options(const Call& call, DeleteOptions& options) {
  if (call.request.body.empty()) return true;
  const sync::StructType& type = sync::known_type("DeleteOptions");
  const auto body =
      read_body(call.request.headers.get("Content-Type"), call.request.body, type, "DeleteOptions");
  if (!body) return refuse(body.error());
  const auto decoded = decode_as(type, "DeleteOptions", *body, FieldValidation::ignore);
  if (!decoded) return refuse(decoded.error());
  const json::object& given = decoded->object;
  if (sync::wire::dig(given, {"gracePeriodSeconds"}) != nullptr) {
    options.grace_seconds = sync::wire::dig_int(given, {"gracePeriodSeconds"});
  }
  options.uid = text_at(given, {"preconditions", "uid"});
  options.resource_version = text_at(given, {"preconditions", "resourceVersion"});
  if (const auto policy = text_at(given, {"propagationPolicy"})) options.propagation = *policy;
  if (sync::wire::dig_bool(given, {"orphanDependents"})) options.propagation = "Orphan";
  if (!sync::wire::dig_list(given, {"dryRun"}).empty()) options.dry_run = true;
  return true;
}

http::Response reply_removed(Backend& backend, const Call& call, const Removed& removed) {
  const sync::printing::Resource& resource = call.resource();
  if (!removed.gone || returns_deleted(resource)) {
    return reply_object(200, call, *removed.last, backend.clock.wall());
  }
  return reply_status(sync::wire::status::deleted({resource.group, resource.plural}, call.info.name,
                                                  sync::wire::uid_of(removed.last->object)));
}

}  // namespace

Answer<DeleteOptions> read_delete_options(const Call& call) {
  DeleteOptions options;
  options.dry_run = call.dry_run;
  const std::string_view grace = call.query.get("gracePeriodSeconds");
  if (!grace.empty()) {
    options.grace_seconds = parse_int<std::int64_t>(grace);
    if (!options.grace_seconds) {
      return refuse(sync::wire::status::bad_request(
          "strconv.ParseInt: parsing " + sync::wire::quoted(grace) + ": invalid syntax"));
    }
  }
  options.propagation = call.query.get("propagationPolicy");
  if (const auto read = read_body_options(call, options); !read) return refuse(read.error());
  return options;
}

Reply remove(Backend& backend, const Call& call) {
  const auto options = read_delete_options(call);
  if (!options) return refuse(options.error());
  const StoredPtr old = backend.registry.find(call.stored(), call.name_space(), call.info.name);
  const auto fine = admit_write(backend, call, nullptr, old ? &old->object : nullptr);
  if (!fine) return refuse(fine.error());
  const auto removed = backend.editor.remove(call.stored(), call.target(), *options);
  if (!removed) return refuse(removed.error());
  return reply_removed(backend, call, *removed);
}

Reply remove_collection(Backend& backend, const Call& call) {
  const auto delete_options = read_delete_options(call);
  if (!delete_options) return refuse(delete_options.error());
  auto options = sync::objects::accept_list_options(call.query, false);
  if (!options) return refuse(std::move(options.error()));
  const auto selection =
      Selection::parse(call.resource(), options->label_selector, options->field_selector);
  if (!selection) return refuse(selection.error());
  const std::int64_t revision = backend.registry.revision();
  std::vector<StoredPtr> removed;
  for (const StoredPtr& stored : backend.registry.list(call.stored(), call.name_space())) {
    if (!selection->matches(stored)) continue;
    const Target target{sync::wire::namespace_of(stored->object),
                        sync::wire::name_of(stored->object)};
    const auto done = backend.editor.remove(call.stored(), target, *delete_options);
    if (!done) return refuse(done.error());
    removed.push_back(stored);
  }
  const ListMeta meta{.revision = revision};
  return reply_json(200, render_list(call.view, removed, meta, backend.clock.wall()));
}

}  // namespace holdfast::agent::lab
