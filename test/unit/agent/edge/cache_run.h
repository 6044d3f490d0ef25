// One run of the agent's cache on a data directory, and objects to put into it.

#pragma once

#include <gtest/gtest.h>

#include "agent/edge/cache/local_versions.h"
#include "agent/edge/cache/scope_content.h"
#include "platform/loop/clock.h"
#include "store/recover.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::cached {

inline const sync::wire::ScopeKind pod_kind{"Pod", "v1"};
inline const store::ScopeKey pods{.owner = "node", .version = "v1", .resource = "pods"};
inline const store::ScopeKey configmaps{.owner = "node", .version = "v1", .resource = "configmaps"};
inline constexpr sync::objects::Version local = sync::objects::first_local_version;

inline sync::watch::ObjectKey key(std::string name) { return {"ns", std::move(name)}; }

inline sync::watch::CachedObject object(const std::string& name, sync::objects::Version version) {
  return {"u", version,
          std::make_shared<const std::string>(R"({"metadata":{"name":")" + name +
                                              R"(","namespace":"ns","uid":"u",)"
                                              R"("resourceVersion":")" +
                                              std::to_string(version) + R"("}})")};
}

inline sync::watch::CacheEvent put(const std::string& name, sync::objects::Version version) {
  return {sync::watch::EventType::modified, key(name), object(name, version)};
}

inline sync::watch::WatchCache::Objects objects(
    std::initializer_list<std::pair<std::string, int>> all) {
  sync::watch::WatchCache::Objects made;
  for (const auto& [name, version] : all) {
    made[key(name)] = object(name, static_cast<sync::objects::Version>(version));
  }
  return made;
}

// The parts of an agent that keep its cache, opened on a data directory.
struct Agent {
  Agent(asio::io_context& context, const std::filesystem::path& dir, std::size_t scopes_max = 100)
      : Agent(context, dir, sync::watch::CacheLimits{.scopes = scopes_max}) {}
  Agent(asio::io_context& context, const std::filesystem::path& dir,
        const sync::watch::CacheLimits& limits, const std::string& vfs = "")
      : clock(loop::clock_of(context.get_executor())),
        file(CacheFile::open(dir / "cache.db", clock, {}, options(vfs)).value()),
        answers(*file, clock),
        versions(*file),
        table(context.get_executor(), clock, limits),
        scopes(table, *file, answers, clock),
        content(table, scopes, answers, clock) {
    EXPECT_TRUE(scopes.restore());
  }

  static store::DatabaseOptions options(const std::string& vfs) {
    store::DatabaseOptions options = store::cache_options();
    options.vfs = vfs;
    return options;
  }

  const Clock& clock;
  std::unique_ptr<CacheFile> file;
  StoredAnswers answers;
  LocalVersions versions;
  ScopeTable table;
  Scopes scopes;
  ScopeContent content;
};

inline std::string shown(const ScopePtr& scope) {
  if (!scope) return "none";
  if (!scope->cache().complete()) return "incomplete";
  scope->cache().check_invariants();
  std::string text = std::to_string(scope->cache().version()) + ":";
  for (const auto& [name, cached] : scope->cache().objects()) {
    text += " " + name.name + "@" + std::to_string(cached.version);
  }
  return text;
}

}  // namespace holdfast::agent::cached
