// Server-side apply: PATCH with a configuration instead of a patch.

#include <boost/json.hpp>

#include "agent/lab/apiserver/call.h"
#include "agent/lab/apiserver/nodes.h"
#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/yaml_body.h"
#include "platform/text.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view apply_type = "application/apply-patch+yaml";

// The body as an object with the request's kind, apiVersion, name and namespace.
Answer<json::object> read_configuration(const Call& call) {
  auto parsed = parse_yaml_body(call.request.body);
  if (!parsed) {
    return refuse(sync::wire::status::bad_request("error decoding YAML: " + parsed.error().what));
  }
  if (!parsed->is_object()) {
    return refuse(sync::wire::status::bad_request("error decoding YAML: not an object"));
  }
  json::object made = std::move(parsed->get_object());
  const std::string api_version = call.resource().api_version(call.view.version->name);
  if (sync::wire::dig_text(made, {"kind"}) != call.resource().kind ||
      sync::wire::dig_text(made, {"apiVersion"}) != api_version) {
    return refuse(sync::wire::status::bad_request("invalid object type: " + printed_kind(made)));
  }
  const std::string_view name = sync::wire::name_of(made);
  if (name.empty()) {
    return refuse(sync::wire::status::bad_request("the name of the object (" + call.info.name +
                                                  " based on URL) was undeterminable: name must "
                                                  "be provided"));
  }
  if (name != call.info.name) {
    return refuse(sync::wire::status::bad_request("the name of the object (" + std::string(name) +
                                                  ") does not match the name on the URL (" +
                                                  call.info.name + ")"));
  }
  if (sync::wire::dig(made, {"metadata", "managedFields"}) != nullptr) {
    return refuse(sync::wire::status::bad_request("metadata.managedFields must be nil"));
  }
  return made;
}

// What a request to the object, or to its status, does not set.
FieldSet spared_by(const Call& call, const json::object& configuration) {
  FieldSet spared;
  if (call.subresource == nullptr) {
    if (call.resource().has_status()) spared.children["f:status"].member = true;
    return spared;
  }
  for (const json::key_value_pair& pair : configuration) {
    const std::string_view name = pair.key();
    const bool always = name == "kind" || name == "apiVersion" || name == "metadata";
    if (always || name == call.subresource->name) continue;
    spared.children[field_step(name)].member = true;
  }
  return spared;
}

// The live object, or the zero value for a new one, with the configuration applied; decoded as
// the body of a PUT would be.
Answer<Decoded> applied(const Call& call, const json::object& live, json::object configuration,
                        WallTime now) {
  FieldManager manager{call.field_manager, call.resource().api_version(call.view.version->name),
                       call.info.subresource, now};
  const MergeType type = merge_type_of(call.resource(), *call.view.version);
  const FieldSet spared = spared_by(call, configuration);
  auto made = apply_configuration(live, std::move(configuration), type, manager, spared,
                                  call.query.flag("force"));
  if (!made) return refuse(made.error());
  return decode_object(call.resource(), *call.view.version, json::value(*std::move(made)),
                       call.validation);
}

http::Response reply_applied(int status, const Call& call, const Stored& stored, WallTime now) {
  http::Response response = reply_object(status, call, stored, now);
  add_definition_warnings(response, call, stored);
  return response;
}

Reply create_by_apply(Backend& backend, const Call& call, json::object configuration) {
  const std::string uid(sync::wire::uid_of(configuration));
  if (!uid.empty()) {
    return refuse(sync::wire::status::conflict({call.resource().group, call.resource().plural},
                                               call.info.name,
                                               "uid mismatch: the provided object specified uid " +
                                                   uid + ", and no existing object was found"));
  }
  json::object zero = zero_of(call.resource(), *call.view.version);
  json::object& metadata = sync::wire::make_object(zero, {"metadata"});
  metadata["name"] = call.info.name;
  if (!call.name_space().empty()) metadata["namespace"] = call.name_space();
  auto decoded = applied(call, zero, std::move(configuration), backend.clock.wall());
  if (!decoded) return refuse(decoded.error());
  if (auto fine = admit_write(backend, call, &decoded->object, nullptr); !fine) {
    return refuse(fine.error());
  }
  sync::wire::make_object(decoded->object, {"metadata"}).erase("resourceVersion");
  const auto stored = backend.editor.create(call.stored(), std::move(decoded->object),
                                            call.name_space(), call.dry_run, call.author(true));
  if (!stored) return refuse(stored.error());
  return reply_applied(201, call, **stored, backend.clock.wall());
}

}  // namespace

bool is_apply(const Call& call) { return is_apply_request(call.info, call.request); }

bool is_apply_request(const sync::objects::RequestInfo& info, const http::Request& request) {
  const std::string_view type = request.headers.get("Content-Type");
  return info.verb == "patch" && trim(type.substr(0, type.find(';'))) == apply_type;
}

Reply apply(Backend& backend, const Call& call) {
  auto configuration = read_configuration(call);
  if (!configuration) return refuse(configuration.error());
  const bool there =
      backend.registry.find(call.stored(), call.name_space(), call.info.name) != nullptr;
  if (!there && call.subresource == nullptr) {
    return create_by_apply(backend, call, *std::move(configuration));
  }
  const json::object& wanted = *configuration;
  const auto change = [&backend, &call, &wanted](const json::object& old) -> Answer<json::object> {
    auto made = applied(call, call.view.convert(old), wanted, backend.clock.wall());
    if (!made) return refuse(made.error());
    if (auto fine = admit_write(backend, call, &made->object, &old); !fine) {
      return refuse(fine.error());
    }
    return std::move(made->object);
  };
  const Part part = call.subresource != nullptr ? Part::status : Part::object;
  const auto stored = backend.editor.update(call.stored(), call.target(), part, change,
                                            call.dry_run, call.author(true));
  if (!stored) return refuse(stored.error());
  return reply_applied(200, call, **stored, backend.clock.wall());
}

}  // namespace holdfast::agent::lab
