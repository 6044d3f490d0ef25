// create, update and patch of objects and of their status.

#include <boost/json.hpp>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/loops/certificates.h"
#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/schema_protobuf.h"
#include "sync/objects/patch/patch.h"
#include "sync/objects/protobuf.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view namespace_differs =
    "the namespace of the provided object does not match the namespace sent on the request";

constexpr std::string_view json_types[] = {"application/json", "application/yaml"};

// The schemas of a definition, which read_body() does not read from protobuf.
Answer<bool> add_schemas(const Call& call, json::value& body) {
  const auto envelope = sync::objects::unwrap_protobuf(call.request.body);
  if (!envelope) return refuse(sync::wire::status::bad_request(envelope.error().what));
  const auto added = add_protobuf_schemas(body.get_object(), envelope->bytes);
  if (!added) return refuse(sync::wire::status::bad_request(added.error().what));
  return true;
}

Answer<Decoded> read_object(const Call& call) {
  const bool typed = !call.view.custom;
  const sync::StructType& type =
      typed ? type_of(call.resource(), *call.view.version) : sync::known_type("ObjectMeta");
  const std::string_view content = call.request.headers.get("Content-Type");
  const bool is_protobuf = content.find("protobuf") != std::string_view::npos;
  if (!typed && is_protobuf) {
    return refuse(sync::wire::status::unsupported_media_type(json_types));
  }
  auto body = read_body(content, call.request.body, type, call.resource().kind);
  if (body && is_protobuf && call.resource().kind == "CustomResourceDefinition") {
    if (auto added = add_schemas(call, *body); !added) return refuse(added.error());
  }
  if (!body) return refuse(body.error());
  return decode_object(call.resource(), *call.view.version, *body, call.validation);
}

Part part_of(const Call& call) { return call.subresource != nullptr ? Part::status : Part::object; }

// Creates an object by PUT, for the kinds that allow it.
Reply create_by_update(Backend& backend, const Call& call, json::object object) {
  sync::wire::make_object(object, {"metadata"}).erase("resourceVersion");
  sync::wire::make_object(object, {"metadata"}).erase("uid");
  const auto stored = backend.editor.create(call.stored(), std::move(object), call.name_space(),
                                            call.dry_run, call.author());
  if (!stored) return refuse(stored.error());
  return reply_object(201, call, **stored, backend.clock.wall());
}

sync::wire::ApiStatus version_needed(const Call& call) {
  const sync::wire::FieldError error =
      sync::wire::field::invalid_raw("metadata.resourceVersion", call.view.custom ? "0" : "0x0",
                                     "must be specified for an update");
  return sync::wire::status::invalid({call.resource().group, call.resource().kind}, call.info.name,
                                     std::span(&error, 1));
}

// Applies the patch to the object in the requested version and decodes the result; sets `warnings`.
Answer<json::object> patched(const Call& call, sync::objects::PatchType type,
                             const json::object& old, std::vector<std::string>& warnings) {
  const json::object served = call.view.convert(old);
  // Custom resources have no schema for strategic merge patches: 415.
  const std::string_view kind = call.view.custom ? std::string_view() : call.resource().kind;
  auto made = sync::objects::apply_patch(type, kind, json::value(served), call.request.body);
  if (!made) return refuse(made.error());
  auto decoded = decode_object(call.resource(), *call.view.version, *made, call.validation);
  if (!decoded) return refuse(decoded.error());
  warnings = std::move(decoded->warnings);
  return std::move(decoded->object);
}

}  // namespace

Reply create(Backend& backend, const Call& call) {
  auto decoded = read_object(call);
  if (!decoded) return refuse(decoded.error());
  const std::string_view space = sync::wire::namespace_of(decoded->object);
  if (!space.empty() && space != call.name_space()) {
    return refuse(sync::wire::status::bad_request(std::string(namespace_differs)));
  }
  if (auto fine = admit_write(backend, call, &decoded->object, nullptr); !fine) {
    return refuse(fine.error());
  }
  if (call.resource().kind == "CertificateSigningRequest") {
    set_requester(decoded->object, call.caller);
  }
  const auto stored = backend.editor.create(call.stored(), std::move(decoded->object),
                                            call.name_space(), call.dry_run, call.author());
  if (!stored) return refuse(stored.error());
  http::Response response = reply_object(201, call, **stored, backend.clock.wall());
  add_warnings(response, decoded->warnings);
  add_definition_warnings(response, call, **stored);
  return response;
}

Reply update(Backend& backend, const Call& call) {
  auto decoded = read_object(call);
  if (!decoded) return refuse(decoded.error());
  const sync::printing::Resource& resource = call.stored();
  const bool there = backend.registry.find(resource, call.name_space(), call.info.name) != nullptr;
  if (!there && call.subresource == nullptr && creates_on_update(resource)) {
    const auto fine = admit_write(backend, call, &decoded->object, nullptr);
    if (!fine) return refuse(fine.error());
    return create_by_update(backend, call, std::move(decoded->object));
  }
  const bool versioned = !sync::wire::version_of(decoded->object).empty();
  if (there && !versioned && needs_version(resource)) return refuse(version_needed(call));
  const json::object& wanted = decoded->object;
  const auto change = [&backend, &call, &wanted](const json::object& old) -> Answer<json::object> {
    if (auto fine = admit_write(backend, call, &wanted, &old); !fine) return refuse(fine.error());
    return wanted;
  };
  const auto stored = backend.editor.update(resource, call.target(), part_of(call), change,
                                            call.dry_run, call.author());
  if (!stored) return refuse(stored.error());
  http::Response response = reply_object(200, call, **stored, backend.clock.wall());
  add_warnings(response, decoded->warnings);
  add_definition_warnings(response, call, **stored);
  return response;
}

Reply patch(Backend& backend, const Call& call) {
  if (is_apply(call)) return apply(backend, call);
  const auto type = sync::objects::parse_patch_type(call.request.headers.get("Content-Type"));
  if (!type) return refuse(sync::wire::status::generic(415));
  std::vector<std::string> warnings;
  const auto change = [&backend, &call, &warnings,
                       type](const json::object& old) -> Answer<json::object> {
    auto made = patched(call, *type, old, warnings);
    if (!made) return made;
    if (auto fine = admit_write(backend, call, &*made, &old); !fine) return refuse(fine.error());
    return made;
  };
  const auto stored = backend.editor.update(call.stored(), call.target(), part_of(call), change,
                                            call.dry_run, call.author());
  if (!stored) return refuse(stored.error());
  http::Response response = reply_object(200, call, **stored, backend.clock.wall());
  add_warnings(response, warnings);
  add_definition_warnings(response, call, **stored);
  return response;
}

}  // namespace holdfast::agent::lab
