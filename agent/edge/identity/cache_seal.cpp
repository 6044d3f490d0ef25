#include "agent/edge/identity/cache_seal.h"

#include <algorithm>

#include "platform/fs/ownership.h"
#include "platform/tls/seal.h"
#include "store/cache.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t key_file_limit = 4096;

class CacheSeal final : public store::Seal {
 public:
  explicit CacheSeal(tls::SealKey key) : key_(std::move(key)) {}

  [[nodiscard]] std::string seal(std::string_view plain, std::string_view name) const override {
    return key_.seal(plain, name);
  }
  [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                         std::string_view name) const override {
    return key_.open(sealed, name);
  }

 private:
  tls::SealKey key_;
};

struct PlainKind {
  std::string_view group;
  std::string_view resource;
};

// Kubernetes kinds that hold no secrets. Everything else is sealed: Secrets, pods (environment
// variables), ConfigMaps, and all custom resources, because a group may have a resource of the same
// name.
constexpr PlainKind plain_kinds[] = {
    {"", "nodes"},
    {"", "services"},
    {"", "endpoints"},
    {"", "namespaces"},
    {"", "events"},
    {"events.k8s.io", "events"},
    {"discovery.k8s.io", "endpointslices"},
    {"coordination.k8s.io", "leases"},
    {"node.k8s.io", "runtimeclasses"},
    {"storage.k8s.io", "csidrivers"},
    {"storage.k8s.io", "csinodes"},
};

bool may_hold_secrets(const store::ScopeKey& scope) {
  return std::none_of(std::begin(plain_kinds), std::end(plain_kinds), [&scope](PlainKind kind) {
    return kind.group == scope.group && kind.resource == scope.resource;
  });
}

}  // namespace

Result<std::unique_ptr<store::Seal>> read_cache_key(const std::string& file) {
  auto content = fs::read_secret(file, key_file_limit);
  if (!content) return fail("cache key", content.error());
  auto key = tls::SealKey::parse(*content);
  if (!key) return fail("cache key " + file, key.error());
  return std::unique_ptr<store::Seal>(std::make_unique<CacheSeal>(*std::move(key)));
}

store::Sealing sealing_with(const store::Seal* seal) {
  return {.seal = seal,
          .objects_of = [](const store::ScopeKey& scope) { return may_hold_secrets(scope); },
          .answers_to = [](std::string_view key) { return key.starts_with("token "); }};
}

}  // namespace holdfast::agent
