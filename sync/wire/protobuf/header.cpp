#include "sync/wire/protobuf/header.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/wire_time.h"

namespace holdfast::sync::wire {
namespace {

constexpr int metadata_number = 1;  // of every kind's metadata
constexpr int version_number = 6;   // of metadata.resourceVersion

void read_label(WireCursor& in, StringMap& labels) {
  std::string_view key;
  std::string_view value;
  while (in.next()) {
    if (in.number() == 1) in.text(key);
    if (in.number() == 2) in.text(value);
  }
  if (in.ok()) labels.set(key, value);
}

void read_time(WireCursor& in, std::optional<WallTime>& out) {
  read_wire_time(in, TimeDigits::seconds, out);
}

// Calls `read` for the embedded message at the cursor.
template <class Out>
void inside(WireCursor& in, void (*read)(WireCursor&, Out&), Out& out) {
  WireCursor inner = in.message();
  read(inner, out);
  in.take_error(inner);
}

void read_metadata(WireCursor& in, ObjectHeader& header) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        in.text(header.name);
        break;
      case 3:
        in.text(header.namespace_name);
        break;
      case 5:
        in.text(header.uid);
        break;
      case 6:
        in.text(header.resource_version);
        break;
      case 9:
        inside(in, read_time, header.deletion_timestamp);
        break;
      case 11:
        inside(in, read_label, header.labels);
        break;
      default:
        break;
    }
  }
}

// `bytes` with the field `number` replaced by `field`, in the same place, or after all smaller
// numbers if there was none.
Result<std::string> with_field(std::string_view bytes, int number, std::string_view field) {
  std::string out;
  bool placed = false;
  WireCursor in(bytes);
  while (in.next()) {
    if (!placed && in.number() >= number) {
      out += field;
      placed = true;
    }
    if (in.number() == number) continue;
    out += bytes.substr(in.offset(), in.end_offset() - in.offset());
  }
  if (!in.ok()) return fail(in.error());
  if (!placed) out += field;
  return out;
}

}  // namespace

Result<ObjectHeader> read_protobuf_header(std::string_view object) {
  TRY(const Envelope envelope, open_envelope(object));
  ObjectHeader header;
  header.api_version = envelope.api_version;
  header.kind = envelope.kind;
  WireCursor in(envelope.raw, envelope.raw_offset);
  while (in.next()) {
    if (in.number() == 1) inside(in, read_metadata, header);
  }
  if (!in.ok()) return fail(in.error());
  return header;
}

Result<ObjectHeader> read_any_header(std::string_view object) {
  return is_protobuf(object) ? read_protobuf_header(object) : read_header(object);
}

Result<std::string> protobuf_with_resource_version(std::string_view object,
                                                   std::string_view resource_version) {
  TRY(const Envelope envelope, open_envelope(object));
  std::string_view metadata;
  std::string joined;  // protobuf merges repeated occurrences of a message
  bool has_metadata = false;
  WireCursor in(envelope.raw, envelope.raw_offset);
  while (in.next()) {
    std::string_view part;
    if (in.number() != metadata_number || !in.bytes(part)) continue;
    if (has_metadata) joined = std::string(metadata).append(part);
    metadata = has_metadata ? joined : part;
    has_metadata = true;
  }
  if (!in.ok()) return fail(in.error());
  if (!has_metadata) return fail(Errc::invalid, "no metadata");
  std::string version;
  append_wire(version, version_number, resource_version);
  TRY(const std::string changed, with_field(metadata, version_number, version));
  std::string field;
  append_wire(field, metadata_number, changed);
  TRY(const std::string raw, with_field(envelope.raw, metadata_number, field));
  return enveloped(envelope.api_version, envelope.kind, raw);
}

std::string protobuf_bookmark(std::string_view resource_version, std::string_view annotation) {
  std::string metadata;
  // Empty fields are written, too, as in Go: name, generateName, namespace, selfLink and uid.
  for (int number = 1; number < version_number; ++number) append_wire(metadata, number, "");
  append_wire(metadata, version_number, resource_version);
  append_wire(metadata, 7, std::int64_t{0});  // generation
  append_wire(metadata, 8, "");               // creationTimestamp
  if (!annotation.empty()) {
    std::string entry;
    append_wire(entry, 1, annotation);
    append_wire(entry, 2, "true");
    append_wire(metadata, 12, entry);
  }
  std::string raw;
  append_wire(raw, metadata_number, metadata);
  return raw;
}

}  // namespace holdfast::sync::wire
