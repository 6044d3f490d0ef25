#include "store/seal.h"

#include <initializer_list>

namespace holdfast::store {
namespace {

std::string join(std::initializer_list<std::string_view> parts) {
  std::string joined;
  for (const std::string_view part : parts) joined.append(part).append(1, '\0');
  return joined;
}

}  // namespace

Result<std::string> open_sealed(const Seal* seal, std::string_view sealed, std::string_view name) {
  if (seal == nullptr) return fail(Errc::denied, "sealed, and no key is given");
  return seal->open(sealed, name);
}

std::string object_seal_name(std::string_view namespace_name, std::string_view name,
                             std::string_view uid, std::string_view version) {
  return join({"object", namespace_name, name, uid, version});
}

std::string answer_seal_name(std::string_view owner, std::string_view key) {
  return join({"answer", owner, key});
}

}  // namespace holdfast::store
