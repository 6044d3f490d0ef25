#include "test/fault/scenarios.h"

#include <sstream>

#include "platform/check.h"
#include "store/answers.h"
#include "store/cache.h"
#include "store/checksum.h"
#include "store/outbox.h"
#include "store/revisions.h"

namespace holdfast::store {
namespace {

constexpr WallTime noon{std::chrono::hours(12)};

std::string body(std::size_t number) { return std::string(100 + number * 700, 'a'); }

std::string brief(const std::string& bytes) {
  return std::to_string(bytes.size()) + "/" + std::to_string(checksum(bytes));
}

// ---------------------------------------------------------------------------------------- outbox

class OutboxScenario final : public FaultScenario {
 public:
  static Result<std::unique_ptr<FaultScenario>> open(Database database) {
    auto scenario = std::make_unique<OutboxScenario>(std::move(database));
    TRY(Outbox outbox, Outbox::open(scenario->database_, scenario->journal_, limits));
    scenario->outbox_.emplace(std::move(outbox));
    return scenario;
  }

  explicit OutboxScenario(Database database)
      : database_(std::move(database)), journal_(database_, {.rows = 20}) {}

  Status step(std::size_t number) override {
    TRY(Transaction in, database_.begin());
    if (auto done = write(in, number); !done) return done;
    return in.commit();
  }

  Result<std::string> state() override {
    std::ostringstream out;
    TRY(const auto entries, outbox_->list(1000));
    for (const Entry& entry : entries) {
      const Write& write = entry.write;
      out << static_cast<std::int64_t>(entry.id) << ' ' << write.verb << ' ' << write.target << ' '
          << (entry.damaged ? "damaged" : brief(write.body)) << " doubt "
          << (entry.sending || entry.maybe_sent) << " attempts " << entry.attempts << '\n';
    }
    TRY(const auto records, journal_.read({}));
    for (const Record& record : records) {
      out << record.seq << ' ' << record.kind << ' ' << record.subject << ' ' << record.entry
          << '\n';
    }
    TRY(const OutboxSize size, outbox_->size());
    out << size.entries << " entries, " << size.bytes << " bytes\n";
    return out.str();
  }

 private:
  static constexpr OutboxLimits limits{.entries = 9, .bytes = 1 << 20};

  static Write write_of(std::size_t number, std::size_t object) {
    const std::string name = "p" + std::to_string(object);
    return {.object = {"", "v1", "pods", "default", name, "status"},
            .verb = "PATCH",
            .target = "/pods/" + name + "/status",
            .body = body(number),
            .created = noon};
  }

  Status write(const Transaction& in, std::size_t number) {
    switch (number % 6) {
      case 0:
        return drop_value(outbox_->add(in, write_of(number, number % 4)));
      case 1: {
        Write event = write_of(number, 100 + number);
        event.urgency = limits.droppable_from;
        return drop_value(outbox_->add(in, event));
      }
      case 2:
        return drop_value(outbox_->add(in, write_of(number, 0), Coalesce::replace));
      case 3:
        return start(in);
      case 4:
        return settle_started(in);
      default:
        return drop_value(journal_.append(in, {.at = noon, .kind = "link"}));
    }
  }

  template <class T>
  static Status drop_value(Result<T> result) {
    if (!result) return fail(result.error());
    return {};
  }

  Status start(const Transaction& in) {
    TRY(const auto page, outbox_->sendable(0, 1));
    if (page.entries.empty()) return {};
    return outbox_->mark_sending(in, page.entries.front().id);
  }

  Status settle_started(const Transaction& in) {
    TRY(const auto entries, outbox_->list(1));
    if (entries.empty()) return {};
    return outbox_->settle(in, entries.front().id, Outcome::applied, noon);
  }

  Database database_;
  Journal journal_;
  std::optional<Outbox> outbox_;
};

// ----------------------------------------------------------------------------------------- cache

class CacheScenario final : public FaultScenario {
 public:
  static Result<std::unique_ptr<FaultScenario>> open(Database database) {
    return std::make_unique<CacheScenario>(std::move(database));
  }

  explicit CacheScenario(Database database)
      : database_(std::move(database)), cache_(database_), answers_(database_) {}

  Status step(std::size_t number) override {
    TRY(Transaction in, database_.begin());
    if (auto done = write(in, number); !done) return done;
    return in.commit();
  }

  Result<std::string> state() override {
    std::ostringstream out;
    TRY(const auto scopes, cache_.scopes());
    for (const Scope& scope : scopes) {
      out << static_cast<std::int64_t>(scope.id) << ' ' << scope.key.resource << ' '
          << scope.resource_version << ' ' << scope.complete << '\n';
      if (!scope.complete) continue;
      TRY(const auto objects, cache_.list(scope.id));
      for (const CachedObject& object : objects) {
        out << object.name.name << ' ' << object.resource_version << ' ' << brief(object.bytes)
            << '\n';
      }
    }
    TRY(const auto answer, answers_.find("owner", "/apis"));
    if (answer) out << answer->status << ' ' << brief(answer->bytes) << '\n';
    return out.str();
  }

 private:
  static CachedObject object(std::size_t name, std::size_t number) {
    const std::string version = std::to_string(number);
    return {{"default", "o" + std::to_string(name)}, "uid", version, 0, body(number)};
  }

  Status write(const Transaction& in, std::size_t number) {
    const ScopeKey key{.owner = "owner", .resource = number < 12 ? "pods" : "secrets"};
    TRY(const Scope scope, cache_.open_scope(in, key, noon));
    const std::string version = std::to_string(number);
    switch (number % 5) {
      case 0:
        return {};
      case 1: {
        std::vector<CachedObject> objects;
        for (std::size_t i = 0; i < number; ++i) objects.push_back(object(i, i));
        auto replaced = cache_.replace_all(in, scope.id, version, objects);
        if (!replaced) return fail(replaced.error());
        return {};
      }
      case 2:
        return answers_.put(in, "owner", "/apis", {200, "text", body(number), {}});
      case 3:
        return cache_.apply(in, scope.id, {{{"default", "o1"}}, {object(2, number)}, version});
      default:
        return number == 14 ? cache_.drop_scope(in, scope.id) : Status{};
    }
  }

  Database database_;
  Cache cache_;
  Answers answers_;
};

// ------------------------------------------------------------------------------------- revisions

class RevisionsScenario final : public FaultScenario {
 public:
  static Result<std::unique_ptr<FaultScenario>> open(Database database) {
    TRY(Revisions revisions, Revisions::open(std::move(database)));
    return std::make_unique<RevisionsScenario>(std::move(revisions));
  }

  explicit RevisionsScenario(Revisions revisions) : revisions_(std::move(revisions)) {}

  Status step(std::size_t number) override {
    auto done = write(number);
    if (revisions_.grouping()) revisions_.roll_back();
    return done;
  }

  Result<std::string> state() override {
    std::ostringstream out;
    out << revisions_.compacted_revision() << " to " << revisions_.current_revision() << '\n';
    TRY(const ListPage page, revisions_.list({}));
    for (const StoredValue& row : page.rows) {
      out << row.key << ' ' << row.mod_revision << ' ' << brief(row.value) << '\n';
    }
    TRY(const auto events, revisions_.events_since("", revisions_.compacted_revision()));
    for (const KeyEvent& event : events) {
      out << event.revision << ' ' << event.key << ' ' << brief(event.value) << ' '
          << (event.previous ? event.previous->mod_revision : 0) << '\n';
    }
    return out.str();
  }

 private:
  Status write(std::size_t number) {
    const std::string key = "k" + std::to_string(number % 5);
    switch (number % 6) {
      case 3:
        return group(number);
      case 4:
        return revisions_.compact(revisions_.current_revision() - 2);
      case 5:
        return forgiving(revisions_.remove(key));
      default:
        return forgiving(revisions_.put(key, body(number)));
    }
  }

  Status group(std::size_t number) {
    if (auto begun = revisions_.begin(); !begun) return begun;
    for (const char* key : {"g1", "g2", "g3"}) {
      auto put = revisions_.put(key, body(number));
      if (!put) return fail(put.error());
    }
    return revisions_.commit();
  }

  static Status forgiving(const Result<std::int64_t>& written) {
    if (written || written.error().code == Errc::not_found) return {};
    return fail(written.error());
  }

  Revisions revisions_;
};

}  // namespace

const std::vector<FaultScenarioKind>& scenario_kinds() {
  static const std::vector<FaultScenarioKind> kinds = {
      {"outbox", outbox_schema(), Durability::full, OutboxScenario::open},
      {"cache", cache_schema(), Durability::relaxed, CacheScenario::open},
      {"revisions", revisions_schema(), Durability::relaxed, RevisionsScenario::open},
  };
  return kinds;
}

std::vector<std::string> states_of(const FaultScenarioKind& kind) {
  Database database = Database::in_memory();
  CHECK(migrate(database, kind.schema));
  auto scenario = kind.open(std::move(database));
  CHECK(scenario);
  std::vector<std::string> states = {(*scenario)->state().value()};
  for (std::size_t number = 0; number < scenario_steps; ++number) {
    CHECK((*scenario)->step(number));
    states.push_back((*scenario)->state().value());
  }
  return states;
}

Result<std::unique_ptr<FaultScenario>> open_scenario(const FaultScenarioKind& kind,
                                                     const std::filesystem::path& file,
                                                     const std::string& vfs) {
  TRY(Database database,
      Database::open(file, {.durability = kind.durability, .cache_kib = 32, .vfs = vfs}));
  if (auto done = migrate(database, kind.schema); !done) return fail(done.error());
  if (auto done = database.execute("PRAGMA wal_autocheckpoint=24"); !done)
    return fail(done.error());
  return kind.open(std::move(database));
}

}  // namespace holdfast::store
