#include "sync/protobuf/header.h"

#include "sync/protobuf/cursor.h"
#include "sync/protobuf/envelope.h"
#include "sync/protobuf/wire_time.h"

namespace holdfast::sync {
namespace {

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

}  // namespace holdfast::sync
