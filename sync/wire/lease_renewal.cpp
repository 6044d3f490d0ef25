#include "sync/wire/lease_renewal.h"

#include "sync/wire/json_scan.h"

namespace holdfast::sync::wire {
namespace {

void read_metadata(JsonCursor& in, ObjectMeta& metadata) {
  for (JsonFields field(in); field.next();) {
    if (field.key() == "name") {
      in.text(metadata.name);
    } else if (field.key() == "namespace") {
      in.text(metadata.namespace_name);
    } else {
      in.skip();
    }
  }
}

void read_spec(JsonCursor& in, LeaseSpec& spec) {
  std::string text;
  for (JsonFields field(in); field.next();) {
    if (field.key() != "renewTime") {
      in.skip();
    } else if (!in.null() && in.text(text)) {
      const auto time = parse_rfc3339(text);
      if (!time) return in.fail_here("expected a time (RFC 3339)");
      spec.renew_time = *time;
    }
  }
}

}  // namespace

Result<Lease> read_renewal(std::string_view object) {
  Lease lease;
  std::string kind(Lease::kind);
  JsonCursor in(object);
  for (JsonFields field(in); field.next();) {
    if (field.key() == "kind") {
      in.text(kind);
    } else if (field.key() == "metadata") {
      read_metadata(in, lease.metadata);
    } else if (field.key() == "spec") {
      read_spec(in, lease.spec);
    } else {
      in.skip();
    }
  }
  in.end();
  if (!in.ok()) return fail("Lease", in.error());
  if (kind != Lease::kind) return fail(Errc::invalid, "Lease: kind: expected Lease, found " + kind);
  if (lease.metadata.name.empty()) return fail(Errc::invalid, "Lease: metadata.name: missing");
  return lease;
}

}  // namespace holdfast::sync::wire
