#include "sync/autonomy/local_form.h"

#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_carry.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync {

Result<std::string> body_as_json(std::string body) {
  if (!is_protobuf(body)) return body;
  return json_of_protobuf(body);
}

Result<std::string> body_in(Encoding encoding, std::string json) {
  if (encoding == Encoding::json) return json;
  return to_protobuf(json);
}

Result<std::string> local_form(const ScopeKind& kind, std::optional<std::string_view> last,
                               std::string_view object) {
  if (kind.encoding == Encoding::json) return as_item(object);
  if (!last) return to_protobuf(object);
  TRY(const Envelope envelope, open_envelope(*last));
  const StructType* type = find_type(envelope.kind);
  if (type == nullptr) return fail(Errc::invalid, "no kind \"" + std::string(envelope.kind) + "\"");
  TRY(const json::object before, object_of_protobuf(*last));
  TRY(const json::value written, parse_json(object));
  TRY(const Shaped after, shape(*type, written, envelope.kind, envelope.api_version));
  TRY(const std::string raw, carry_changes(*type, envelope.raw, before, after.object));
  return enveloped(envelope.api_version, envelope.kind, raw);
}

}  // namespace holdfast::sync
