#include "sync/filters/object.h"

#include <boost/json.hpp>

#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_carry.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::filters {
namespace {

// Lists whose items filters change in place.
constexpr std::string_view in_place[] = {"ports", "containers", "initContainers",
                                         "ephemeralContainers", "env"};

const StructType* type_of(const wire::Envelope& envelope) {
  const bool beta_slice =
      envelope.kind == "EndpointSlice" && envelope.api_version.ends_with("/v1beta1");
  return find_type(beta_slice ? "EndpointSliceV1beta1" : envelope.kind);
}

}  // namespace

Result<OpenedObject> OpenedObject::open(std::string_view bytes) {
  OpenedObject opened;
  opened.bytes_ = bytes;
  if (!wire::is_protobuf(bytes)) {
    TRY(json::value value, wire::parse_json(bytes));
    if (!value.is_object()) return fail(Errc::invalid, "not an object");
    opened.object = std::move(value.get_object());
    return opened;
  }
  TRY(const wire::Envelope envelope, wire::open_envelope(bytes));
  opened.type_ = type_of(envelope);
  if (opened.type_ == nullptr) {
    return fail(Errc::invalid, "no kind \"" + std::string(envelope.kind) + "\"");
  }
  TRY(json::object fields, objects::read_protobuf(*opened.type_, envelope.raw));
  TRY(objects::Shaped shaped, objects::shape(*opened.type_, std::move(fields)));
  opened.before_ = shaped.object;
  opened.object = std::move(shaped.object);
  return opened;
}

Result<std::string> OpenedObject::close() const {
  if (type_ == nullptr) return wire::serialize(object);
  TRY(const wire::Envelope envelope, wire::open_envelope(bytes_));
  TRY(const objects::Shaped after, objects::shape(*type_, object));
  TRY(const std::string raw,
      objects::carry_changes(*type_, envelope.raw, before_, after.object, in_place));
  return wire::enveloped(envelope.api_version, envelope.kind, raw);
}

}  // namespace holdfast::sync::filters
