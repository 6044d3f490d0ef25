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

// Kinds that nobody writes secrets into. Everything else is sealed: Secrets, pods (environment
// variables), ConfigMaps, and custom resources, of which nobody knows.
constexpr std::string_view plain_resources[] = {
    "nodes",  "services",   "endpoints",      "endpointslices", "leases",
    "events", "namespaces", "runtimeclasses", "csidrivers",     "csinodes"};

bool may_hold_secrets(const store::ScopeKey& scope) {
  return std::find(std::begin(plain_resources), std::end(plain_resources), scope.resource) ==
         std::end(plain_resources);
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
