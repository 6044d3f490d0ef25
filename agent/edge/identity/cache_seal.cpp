#include "agent/edge/identity/cache_seal.h"

#include "platform/fs/file.h"
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

}  // namespace

Result<std::unique_ptr<store::Seal>> read_cache_key(const std::string& file) {
  auto content = fs::read_all(file, key_file_limit);
  if (!content) return fail("cache key", content.error());
  auto key = tls::SealKey::parse(*content);
  if (!key) return fail("cache key " + file, key.error());
  return std::unique_ptr<store::Seal>(std::make_unique<CacheSeal>(*std::move(key)));
}

store::Sealing sealing_with(const store::Seal* seal) {
  return {.seal = seal,
          .objects_of = [](const store::ScopeKey& scope) { return scope.resource == "secrets"; },
          .answers_to = [](std::string_view key) { return key.starts_with("token "); }};
}

}  // namespace holdfast::agent
