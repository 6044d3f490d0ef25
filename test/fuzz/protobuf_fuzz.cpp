// Kubernetes protobuf: what is written is read back unchanged, a change affects nothing else, and
// the readers (cursor, schema, generated messages) agree on input that all of them accept.

#include <boost/json.hpp>

#include "platform/check.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_carry.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/protobuf/renewal.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/read.h"
#include "test/fuzz/pieces.h"

namespace holdfast::sync {
namespace {

void check_cursor(std::string_view bytes) {
  std::size_t walked = 0;
  wire::WireCursor in(bytes);
  while (in.next()) {
    CHECK(in.offset() == walked && in.end_offset() > in.offset());
    CHECK(in.end_offset() <= bytes.size() && in.number() > 0);
    walked = in.end_offset();
  }
  CHECK(!in.ok() || walked == bytes.size());
}

void check_envelope(std::string_view bytes) {
  const auto envelope = wire::open_envelope(bytes);
  if (!envelope) return;
  CHECK(bytes.substr(envelope->raw_offset, envelope->raw.size()) == envelope->raw);
  const std::string again = wire::enveloped(envelope->api_version, envelope->kind, envelope->raw);
  const auto opened = wire::open_envelope(again);
  CHECK(opened.has_value() && opened->raw == envelope->raw);
  CHECK(opened->api_version == envelope->api_version && opened->kind == envelope->kind);
}

void check_header(std::string_view bytes) {
  auto header = wire::read_protobuf_header(bytes);
  if (!header) return;
  const auto changed = wire::protobuf_with_resource_version(bytes, "7");
  if (!changed) return;
  const auto again = wire::read_protobuf_header(*changed);
  header->resource_version = "7";
  CHECK(again.has_value() && *again == *header);
}

void check_list(std::string_view bytes) {
  const auto list = wire::split_protobuf_list(bytes);
  if (!list) return;
  const std::string joined = join_protobuf_list(list->head, list->items);
  const auto again = wire::split_protobuf_list(joined);
  CHECK(again.has_value() && *again == *list);
}

void check_status(std::string_view bytes) {
  const auto status = wire::parse_protobuf_status(bytes);
  if (!status) return;
  const auto again = wire::parse_protobuf_status(encode_protobuf_status(*status));
  CHECK(again.has_value() && *again == *status);
}

// The type of an object, or nullptr if it is not an object with metadata.
const StructType* type_of(std::string_view bytes) {
  const auto envelope = wire::open_envelope(bytes);
  const StructType* type = envelope ? find_type(envelope->kind) : nullptr;
  const Field* metadata = type != nullptr ? type->field("metadata") : nullptr;
  return metadata != nullptr && metadata->type == find_type("ObjectMeta") ? type : nullptr;
}

// The printed form is JSON; converted back and printed again it is the same.
void check_json(std::string_view bytes) {
  const auto printed = objects::json_of_protobuf(bytes);
  if (!printed) return;
  const auto value = wire::parse_json(*printed);
  CHECK(value.has_value() && value->is_object());
  if (type_of(bytes) == nullptr) return;
  const json::object& object = value->get_object();
  const auto header = wire::read_protobuf_header(bytes);
  if (header) {
    CHECK(header->name == wire::name_of(object) &&
          header->namespace_name == wire::namespace_of(object));
    CHECK(header->uid == wire::uid_of(object) &&
          header->resource_version == wire::version_of(object));
  }
  // Upstream reads the time 1970-01-01 as no time, and so do we.
  if (printed->find("1970-01-01T00:00:00") != std::string::npos) return;
  const auto written = objects::to_protobuf(*printed);
  CHECK(written.has_value());
  const auto again = objects::json_of_protobuf(*written);
  CHECK(again.has_value() && *again == *printed);
}

Result<json::object> shown(const StructType& type, std::string_view raw) {
  TRY(json::object fields, objects::read_protobuf(type, raw));
  TRY(objects::Shaped shaped, objects::shape(type, std::move(fields)));
  return std::move(shaped.object);
}

// A changed label is in the result, and nothing else differs.
void check_carry(std::string_view bytes) {
  const StructType* type = type_of(bytes);
  if (type == nullptr) return;
  const std::string_view raw = wire::open_envelope(bytes).value().raw;
  const auto before = shown(*type, raw);
  if (!before) return;
  const auto same = objects::carry_changes(*type, raw, *before, *before);
  CHECK(same.has_value());
  const auto read_same = shown(*type, *same);
  CHECK(read_same.has_value() && *read_same == *before);
  json::object after = *before;
  wire::make_object(after, {"metadata", "labels"})["fuzz"] = "1";
  const auto changed = objects::carry_changes(*type, raw, *before, after);
  CHECK(changed.has_value());
  const auto read = shown(*type, *changed);
  CHECK(read.has_value() && *read == after);
}

template <class T>
void check_decoded(std::string_view bytes) {
  const auto object = wire::decode_protobuf<T>(bytes);
  const auto header = wire::read_protobuf_header(bytes);
  if (!object || !header) return;
  CHECK(object->metadata.name == header->name && object->metadata.uid == header->uid);
  CHECK(object->metadata.namespace_name == header->namespace_name);
  CHECK(object->metadata.resource_version == header->resource_version);
  CHECK(object->metadata.labels == header->labels);
  CHECK(object->metadata.deletion_timestamp == header->deletion_timestamp);
}

void check_protobuf(std::string_view bytes) {
  check_cursor(bytes);
  check_envelope(bytes);
  check_header(bytes);
  check_list(bytes);
  check_status(bytes);
  check_json(bytes);
  check_carry(bytes);
  check_decoded<Pod>(bytes);
  check_decoded<Node>(bytes);
  check_decoded<Lease>(bytes);
  check_decoded<DaemonSet>(bytes);
  (void)wire::read_protobuf_renewal(bytes);
}

}  // namespace
}  // namespace holdfast::sync

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::sync::check_protobuf(holdfast::test::text_of(data, size));
  return 0;
}
