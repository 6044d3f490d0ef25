#include "sync/autonomy/local_form.h"

#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_carry.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::autonomy {

Result<std::string> body_as_json(std::string body) {
  if (!wire::is_protobuf(body)) return body;
  return objects::json_of_protobuf(body);
}

Result<std::string> body_in(wire::Encoding encoding, std::string json) {
  if (encoding == wire::Encoding::json) return json;
  return objects::to_protobuf(json);
}

Result<std::string> local_form(const wire::ScopeKind& kind, std::optional<std::string_view> last,
                               std::string_view object) {
  if (kind.encoding == wire::Encoding::json) return wire::as_item(object);
  if (!last) return objects::to_protobuf(object);
  TRY(const wire::Envelope envelope, wire::open_envelope(*last));
  const StructType* type = find_type(envelope.kind);
  if (type == nullptr) return fail(Errc::invalid, "no kind \"" + std::string(envelope.kind) + "\"");
  TRY(const json::object before, objects::object_of_protobuf(*last));
  TRY(const json::value written, wire::parse_json(object));
  TRY(const objects::Shaped after,
      objects::shape(*type, written, envelope.kind, envelope.api_version));
  TRY(const std::string raw, objects::carry_changes(*type, envelope.raw, before, after.object));
  return wire::enveloped(envelope.api_version, envelope.kind, raw);
}

}  // namespace holdfast::sync::autonomy
