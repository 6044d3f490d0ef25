#include "agent/ctl/source.h"

#include <boost/asio/this_coro.hpp>
#include <filesystem>
#include <limits>
#include <map>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/admin/journal_json.h"
#include "agent/edge/cache/outage_readiness.h"
#include "agent/edge/cache/scopes.h"
#include "agent/edge/identity/cache_seal.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/route/caller.h"
#include "platform/fs/ownership.h"
#include "platform/http/client.h"
#include "sync/objects/secret_values.h"
#include "sync/wire/json.h"

namespace holdfast::agent {
namespace {

namespace json = sync::json;

constexpr auto answer_limit = std::chrono::seconds(5);
constexpr std::size_t journal_rows = 10'000;

class LiveSource final : public Source {
 public:
  LiveSource(net::HostPort admin, const Clock& clock)
      : client_(http::Endpoint{.at = std::move(admin)}), clock_(clock) {}

  asio::awaitable<Result<std::string>> status() override { return get("/v1/status"); }
  asio::awaitable<Result<std::string>> objects(std::string resource) override {
    Query query;
    query.set("resource", std::move(resource));
    return get("/v1/objects?" + query.encode());
  }
  asio::awaitable<Result<std::string>> ready() override { return get("/v1/ready"); }
  asio::awaitable<Result<std::string>> journal(std::string subject) override {
    Query query;
    query.set("subject", std::move(subject));
    query.set("limit", std::to_string(journal_rows));
    return get("/v1/journal?" + query.encode());
  }

 private:
  asio::awaitable<Result<std::string>> get(std::string target) {
    http::Request request{.target = std::move(target)};
    auto answer = co_await client_.send(std::move(request), clock_.mono() + answer_limit);
    if (!answer) co_return fail("ask the agent", answer.error());
    if (answer->status == 200) co_return std::move(answer->body);
    co_return fail(Errc::unavailable, "the agent answered " + std::to_string(answer->status));
  }

  http::Client client_;
  const Clock& clock_;
};

// Unlike the agent, does not quarantine a damaged file.
Result<store::Database> open_file(const std::filesystem::path& file, const store::Schema& schema) {
  TRY(store::Database database, store::Database::open(file, {}));
  if (auto migrated = store::migrate(database, schema); !migrated) return fail(migrated.error());
  return database;
}

// The databases of a stopped agent. The lock keeps an agent from starting meanwhile.
class FileSource final : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(const std::filesystem::path& dir, fs::FileLock lock,
                                              const std::string& cache_key_file,
                                              const Clock& clock) {
    std::unique_ptr<FileSource> made(new FileSource(std::move(lock), clock));
    if (!cache_key_file.empty()) {
      TRY(made->seal_, read_cache_key(cache_key_file));
    }
    const store::Sealing sealing = sealing_with(made->seal_.get());
    TRY(store::Database cache, open_file(dir / "cache.db", store::cache_schema()));
    TRY(made->cache_file_, CacheFile::open(std::move(cache), clock, sealing));
    TRY(CacheFile::Tables* const tables, made->cache_file_->tables());
    made->cache_ = &tables->cache;
    made->answers_ = std::make_unique<StoredAnswers>(*made->cache_file_, clock);
    TRY(store::Database outbox, open_file(dir / "outbox.db", store::outbox_schema()));
    TRY(made->offline_store_, OfflineStore::open(std::move(outbox), clock));
    return std::unique_ptr<Source>(std::move(made));
  }

  asio::awaitable<Result<std::string>> status() override {
    CO_TRY(const std::vector<store::Scope> scopes, cache_->scopes());
    CO_TRY(const store::CacheSize size, cache_->size());
    CO_TRY(const store::OutboxSize outbox, offline_store_->size());
    std::int64_t complete = 0;
    for (const store::Scope& scope : scopes) complete += scope.complete ? 1 : 0;
    const json::object status{
        {"link", json::object{{"state", "agent not running"}}},
        {"outbox", json::object{{"entries", outbox.entries}, {"bytes", outbox.bytes}}},
        {"cache", json::object{{"scopes", scopes.size()},
                               {"complete_scopes", complete},
                               {"objects", size.objects},
                               {"bytes", size.bytes}}}};
    co_return sync::wire::serialize(status);
  }

  asio::awaitable<Result<std::string>> objects(std::string resource) override {
    CO_TRY(const std::vector<store::Scope> scopes, cache_->scopes());
    std::map<store::ObjectName, std::string> found;
    for (const store::Scope& scope : scopes) {
      if (scope.key.resource != resource || !scope.complete) continue;
      CO_TRY(const auto kind, answers_->kind_of(scope.key));
      if (!kind) continue;
      CO_TRY(const std::vector<store::CachedObject> rows, cache_->list(scope.id));
      for (const store::CachedObject& row : rows) {
        std::string text = sync::watch::cached_json(*kind, row.bytes).value_or("null");
        if (resource == "secrets") text = sync::objects::without_secret_values(text);
        found[row.name] = std::move(text);
      }
    }
    std::string body = "[";
    for (const auto& [name, object] : found) body += (body.size() > 1 ? ",\n" : "") + object;
    co_return body + "]";
  }

  asio::awaitable<Result<std::string>> ready() override {
    const auto executor = co_await asio::this_coro::executor;
    co_return check_files(executor);
  }

  asio::awaitable<Result<std::string>> journal(std::string subject) override {
    const store::JournalQuery query{.limit = journal_rows, .subject = std::move(subject)};
    CO_TRY(const std::vector<store::Record> records, offline_store_->records(query));
    co_return journal_json(records);
  }

 private:
  Result<std::string> check_files(asio::any_io_executor executor) {
    // Scopes::restore() treats a scope that it cannot decrypt as never received. Report that as an
    // error instead.
    TRY(const std::vector<store::Scope> rows, cache_->scopes());
    for (const store::Scope& row : rows) {
      if (!row.complete || row.key.owner != node_owner) continue;
      const auto readable = cache_->list(row.id);
      if (!readable) return fail(readable.error());
    }
    constexpr std::size_t any = std::numeric_limits<std::size_t>::max() / 2;
    sync::watch::CacheLimits limits{.scopes = any, .memory_bytes = any, .scope_bytes = any};
    limits.disk_bytes = std::numeric_limits<std::int64_t>::max() / 2;
    ScopeTable table(std::move(executor), clock_, limits);
    Scopes scopes(table, *cache_file_, *answers_, clock_);
    if (auto restored = scopes.restore(); !restored) return fail(restored.error());
    const WallTime now = clock_.wall();
    return sync::wire::serialize(readiness_json(check_node_readiness(table, *answers_, now), now));
  }

  FileSource(fs::FileLock lock, const Clock& clock) : lock_(std::move(lock)), clock_(clock) {}

  fs::FileLock lock_;
  const Clock& clock_;
  std::unique_ptr<store::Seal> seal_;  // null: no key, sealed rows are not shown
  std::unique_ptr<CacheFile> cache_file_;
  store::Cache* cache_ = nullptr;  // of the file
  std::unique_ptr<StoredAnswers> answers_;
  std::unique_ptr<OfflineStore> offline_store_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_source(const std::string& data_dir,
                                            const std::string& cache_key_file, const Clock& clock) {
  const std::filesystem::path dir(data_dir);
  std::error_code ec;
  if (!std::filesystem::exists(dir / "cache.db", ec)) {
    return fail(Errc::not_found, data_dir + ": no agent has run here");
  }
  if (auto ours = fs::check_own_dir(dir); !ours) return fail("--data-dir", ours.error());
  auto lock = fs::FileLock::take(dir / "lock");
  if (lock) return FileSource::open(dir, *std::move(lock), cache_key_file, clock);
  if (lock.error().code != Errc::conflict) return fail(lock.error());
  TRY(const EdgeAddresses endpoints, read_endpoints(dir));
  return std::unique_ptr<Source>(std::make_unique<LiveSource>(endpoints.admin, clock));
}

}  // namespace holdfast::agent
