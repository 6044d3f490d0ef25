#include "store/seal.h"

#include <initializer_list>

#include "store/cache.h"

namespace holdfast::store {
namespace {

std::string join(std::initializer_list<std::string_view> parts, std::int64_t packed = 0) {
  std::string joined;
  for (const std::string_view part : parts) joined.append(part).append(1, '\0');
  // Rows that are not packed keep the name that they had before packing was introduced.
  if (packed != 0) joined.append("packed ").append(std::to_string(packed)).append(1, '\0');
  return joined;
}

}  // namespace

Result<std::string> open_sealed(const Seal* seal, std::string_view sealed, std::string_view name) {
  if (seal == nullptr) return fail(Errc::denied, "sealed, and no key is given");
  return seal->open(sealed, name);
}

tl::unexpected<Error> not_sealed() {
  return fail(Errc::denied, "not sealed, although a key is given");
}

std::string object_seal_name(const ScopeKey& scope, const SealedObject& object) {
  return join({"cache object", scope.owner, scope.group, scope.version, scope.resource,
               scope.namespace_name, scope.label_selector, scope.field_selector, scope.encoding,
               object.namespace_name, object.name, object.uid, object.version},
              object.packed);
}

std::string old_object_seal_name(const SealedObject& object) {
  return join({"object", object.namespace_name, object.name, object.uid, object.version});
}

std::string answer_seal_name(std::string_view owner, std::string_view key, std::int64_t packed) {
  return join({"answer", owner, key}, packed);
}

}  // namespace holdfast::store
