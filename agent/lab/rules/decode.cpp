#include "agent/lab/rules/decode.h"

#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/custom_resource.h"
#include "agent/lab/rules/defaults.h"
#include "agent/lab/rules/go_json.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/quote.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";
// The media types that upstream accepts. The list is part of the error message, so it includes
// YAML, which is not supported here.
constexpr std::string_view media_types[] = {json_type, "application/yaml", protobuf_type};

std::string summary(std::string_view body) {
  constexpr std::size_t most = 30;
  if (body.empty()) return "<empty>";
  const bool cut = body.size() > most;
  const std::string_view head = body.substr(0, most);
  return (body.front() == '{' ? std::string(head) : hex_encode(head)) + (cut ? " ..." : "");
}

sync::wire::ApiStatus unrecognized(std::string_view kind, const std::string& why,
                                   std::string_view body) {
  return sync::wire::status::bad_request("the object provided is unrecognized (must be of type " +
                                         std::string(kind) + "): " + why + " (" + summary(body) +
                                         ")");
}

// An object of another kind is not decoded: its name is enough to refuse it.
Answer<sync::json::value> read_protobuf_body(std::string_view body, const sync::StructType& type,
                                             std::string_view kind) {
  const auto envelope = sync::objects::unwrap_protobuf(body);
  if (!envelope) return refuse(unrecognized(kind, envelope.error().what, body));
  sync::json::object object;
  if (envelope->kind == kind) {
    auto read = sync::objects::read_protobuf(type, envelope->bytes);
    if (!read) return refuse(unrecognized(kind, read.error().what, body));
    object = *std::move(read);
  }
  object["kind"] = envelope->kind;
  object["apiVersion"] = envelope->api_version;
  return sync::json::value(std::move(object));
}

// The name of the internal Go type in "converting (v1.Pod) to (core.Node)".
std::string internal_name(const sync::printing::Resource& resource) {
  const std::string_view group = resource.group.substr(0, resource.group.find('.'));
  return std::string(group.empty() ? "core" : group) + "." + std::string(resource.kind);
}

struct Named {
  std::string_view kind;
  std::string_view version;  // without the group
};

sync::wire::ApiStatus cannot_be(const Named& given, std::string_view wanted, std::string_view why) {
  return sync::wire::status::bad_request(
      std::string(given.kind) + " in version " + sync::wire::quoted(given.version) +
      " cannot be handled as a " + std::string(wanted) + ": " + std::string(why));
}

std::string_view version_part(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
}

Answer<Decoded> check_fields(sync::objects::Shaped shaped, const Named& named,
                             FieldValidation validation) {
  Decoded decoded{std::move(shaped.object), {}};
  if (validation == FieldValidation::ignore || shaped.unknown.empty()) return decoded;
  for (const std::string& path : shaped.unknown) {
    decoded.warnings.push_back("unknown field " + sync::wire::quoted(path));
  }
  if (validation == FieldValidation::warn) return decoded;
  return refuse(
      cannot_be(named, named.kind, "strict decoding error: " + join(decoded.warnings, ", ")));
}

}  // namespace

Answer<FieldValidation> parse_field_validation(std::string_view text) {
  if (text.empty() || text == "Warn") return FieldValidation::warn;
  if (text == "Ignore") return FieldValidation::ignore;
  if (text == "Strict") return FieldValidation::strict;
  return refuse(sync::wire::status::bad_request(
      "fieldValidation: Unsupported value: " + sync::wire::quoted(text) +
      R"(: supported values: "Ignore", "Strict", "Warn")"));
}

Answer<sync::json::value> read_body(std::string_view content_type, std::string_view body,
                                    const sync::StructType& type, std::string_view kind) {
  const std::string_view media = trim(content_type.substr(0, content_type.find(';')));
  if (media == protobuf_type) return read_protobuf_body(body, type, kind);
  if (!media.empty() && media != json_type) {
    return refuse(sync::wire::status::unsupported_media_type(media_types));
  }
  auto value = sync::wire::parse_json(body);
  if (value) return *std::move(value);
  std::string why = go_json_error(body);
  if (why.empty()) why = value.error().what;
  return refuse(unrecognized(kind, "couldn't get version/kind; json parse error: " + why, body));
}

Answer<Decoded> decode_object(const sync::printing::Resource& resource,
                              const sync::printing::ServedVersion& version,
                              const sync::json::value& value, FieldValidation validation) {
  const sync::json::object& given = sync::wire::as_object(value);
  const std::string expected = resource.api_version(version.name);
  const std::string_view kind = sync::wire::dig_text(given, {"kind"});
  const std::string_view api_version = sync::wire::dig_text(given, {"apiVersion"});
  const Named named{kind.empty() ? resource.kind : kind,
                    api_version.empty() ? version.name : version_part(api_version)};
  if (!kind.empty() && kind != resource.kind) {
    const std::string from = std::string(named.version) + "." + std::string(kind);
    return refuse(cannot_be(
        named, resource.kind,
        "converting (" + from + ") to (" + internal_name(resource) + "): unknown conversion"));
  }
  if (!api_version.empty() && api_version != expected) {
    return refuse(sync::wire::status::bad_request(
        "the API version in the data (" + std::string(api_version) +
        ") does not match the expected API version (" + expected + ")"));
  }
  if (const CustomResource* custom = custom_of(resource)) {
    return decode_custom(*custom, version, given, validation);
  }
  auto shaped = sync::objects::shape(type_of(resource, version), value, resource.kind, expected,
                                     sync::objects::ManagedFields::keep);
  if (!shaped) return refuse(cannot_be(named, resource.kind, shaped.error().what));
  auto checked = check_fields(*std::move(shaped), named, validation);
  if (!checked) return checked;
  checked->object = canonical(resource, to_stored(resource, version, checked->object));
  return checked;
}

Answer<Decoded> decode_as(const sync::StructType& type, std::string_view kind,
                          const sync::json::value& value, FieldValidation validation) {
  const sync::json::object& given = sync::wire::as_object(value);
  const std::string_view api_version = sync::wire::dig_text(given, {"apiVersion"});
  const Named named{kind, version_part(api_version.empty() ? "v1" : api_version)};
  auto shaped = sync::objects::shape(type, value, kind, api_version);
  if (!shaped) return refuse(cannot_be(named, kind, shaped.error().what));
  return check_fields(*std::move(shaped), named, validation);
}

sync::json::object canonical(const sync::printing::Resource& resource, sync::json::object object) {
  if (const CustomResource* custom = custom_of(resource)) {
    return canonical_custom(*custom, std::move(object));
  }
  const sync::printing::Resource& stored = stored_resource(resource);
  apply_defaults(stored, object);
  auto shaped = sync::objects::shape(stored_type(stored), object, stored.kind,
                                     stored.stored_version(), sync::objects::ManagedFields::keep);
  CHECK(shaped.has_value());  // It was shaped before, and defaults have the right types.
  return std::move(shaped->object);
}

}  // namespace holdfast::agent::lab
