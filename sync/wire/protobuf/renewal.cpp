#include "sync/wire/protobuf/renewal.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/wire_time.h"

namespace holdfast::sync::wire {
namespace {

void read_metadata(WireCursor in, WireCursor& outer, ObjectMeta& metadata) {
  while (in.next()) {
    if (in.number() == 1) in.text(metadata.name);
    if (in.number() == 3) in.text(metadata.namespace_name);
  }
  outer.take_error(in);
}

void read_spec(WireCursor in, WireCursor& outer, LeaseSpec& spec) {
  while (in.next()) {
    if (in.number() != 4) continue;
    WireCursor time = in.message();
    read_wire_time(time, TimeDigits::micros, spec.renew_time);
    in.take_error(time);
  }
  outer.take_error(in);
}

}  // namespace

Result<Lease> read_protobuf_renewal(std::string_view object) {
  const auto envelope = open_envelope(object);
  if (!envelope) return fail("Lease", envelope.error());
  if (envelope->kind != Lease::kind) {
    return fail(Errc::invalid, "Lease: kind: expected Lease, found " + std::string(envelope->kind));
  }
  Lease lease;
  WireCursor in(envelope->raw, envelope->raw_offset);
  while (in.next()) {
    if (in.number() == 1) read_metadata(in.message(), in, lease.metadata);
    if (in.number() == 2) read_spec(in.message(), in, lease.spec);
  }
  if (!in.ok()) return fail("Lease", in.error());
  if (lease.metadata.name.empty()) return fail(Errc::invalid, "Lease: metadata.name: missing");
  return lease;
}

}  // namespace holdfast::sync::wire
