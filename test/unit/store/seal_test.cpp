// Sealed rows: what the file contains, who can read them, and sealing all of them with a new key.

#include "store/seal.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/answers.h"
#include "store/cache.h"
#include "store/checksum.h"
#include "store/reseal.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

// A simple cipher for tests that checks its own key and the name.
class FakeSeal final : public Seal {
 public:
  explicit FakeSeal(std::string key) : key_(std::move(key)) {}
  [[nodiscard]] std::string seal(std::string_view plain, std::string_view name) const override {
    std::string sealed = key_ + "|" + std::string(name) + "|";
    for (const char c : plain) sealed += static_cast<char>(c ^ 0x55);
    return sealed;
  }
  [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                         std::string_view name) const override {
    const std::string start = key_ + "|" + std::string(name) + "|";
    if (!sealed.starts_with(start)) return fail(Errc::denied, "another key");
    std::string plain;
    for (const char c : sealed.substr(start.size())) plain += static_cast<char>(c ^ 0x55);
    return plain;
  }

 private:
  std::string key_;
};

const ScopeKey secrets{.owner = "node", .version = "v1", .resource = "secrets"};
const ScopeKey plain_pods{.owner = "node", .version = "v1", .resource = "pods"};
const FakeSeal old_key("old");
const FakeSeal new_key("new");

Sealing with(const Seal* seal) {
  return {.seal = seal,
          .objects_of = [](const ScopeKey& scope) { return scope.resource == "secrets"; },
          .answers_to = [](std::string_view key) { return key.starts_with("token "); }};
}

CachedObject object(const std::string& name, const std::string& bytes) {
  return {{"ns", name}, "uid", "7", 0, bytes};
}

class SealTest : public testing::Test {
 protected:
  SealTest() { EXPECT_EQ(said(migrate(database_, cache_schema())), "ok"); }

  void fill(const Seal* seal) {
    Cache cache(database_, with(seal));
    Answers answers(database_, {}, with(seal));
    Transaction in = value(database_.begin());
    const Scope first = value(cache.open_scope(in, secrets, {}));
    const Scope second = value(cache.open_scope(in, plain_pods, {}));
    value(cache.replace_all(in, first.id, "9", {object("a", "password"), object("b", "phrase")}));
    value(cache.replace_all(in, second.id, "9", {object("p", "pod p")}));
    EXPECT_EQ(said(answers.put(in, "node", "token a", {200, "", "my token", {}})), "ok");
    EXPECT_EQ(said(answers.put(in, "node", "/version", {200, "", "v1.32", {}})), "ok");
    EXPECT_EQ(said(in.commit()), "ok");
  }

  // All content, or the first error.
  std::string shown(const Seal* seal) {
    Cache cache(database_, with(seal));
    Answers answers(database_, {}, with(seal));
    std::string text;
    for (const ScopeKey& key : {secrets, plain_pods}) {
      const auto scope = value(cache.find_scope(key));
      const auto objects = cache.list(scope->id);
      if (!objects) text += said(objects) + " ";
      for (const CachedObject& each : objects.value_or(std::vector<CachedObject>{})) {
        text += each.bytes + " ";
      }
    }
    for (const std::string key : {"token a", "/version"}) {
      const auto answer = answers.find("node", key);
      const std::string known = answer && *answer ? (*answer)->bytes : "none";
      text += (answer ? known : said(answer)) + " ";
    }
    return text;
  }

  bool file_has(std::string_view bytes, const std::string& name = "cache.db") {
    for (const char* suffix : {"", "-wal"}) {
      std::ifstream in(dir_.path() / (name + suffix), std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(in), {}};
      if (content.find(bytes) != std::string::npos) return true;
    }
    return false;
  }

  test::ScratchDir dir_;
  Database database_ = value(Database::open(dir_.path() / "cache.db", {}));
};

constexpr const char* all = "password phrase pod p my token v1.32 ";

TEST_F(SealTest, OnlyWhatIsToBeSealedIs) {
  fill(&old_key);
  EXPECT_EQ(shown(&old_key), all);
  for (const char* hidden : {"password", "phrase", "my token"}) {
    EXPECT_FALSE(file_has(hidden)) << hidden;
  }
  EXPECT_TRUE(file_has("pod p"));
  EXPECT_TRUE(file_has("v1.32"));
}

// Rows are packed before they are sealed, and the seal covers the size that marks them as packed.
TEST_F(SealTest, PackedRowsAreSealedAndTheirMarkCannotBeChanged) {
  const std::string secret = "password" + std::string(1000, 'x');
  for (const char* change : {"", "packed = 0", "packed = packed - 1"}) {
    SCOPED_TRACE(change);
    ASSERT_EQ(said(database_.execute("DELETE FROM scope; DELETE FROM object")), "ok");
    Cache cache(database_, with(&old_key));
    Answers answers(database_, {}, with(&old_key));
    Transaction in = value(database_.begin());
    const ScopeId scope = value(cache.open_scope(in, secrets, {})).id;
    value(cache.replace_all(in, scope, "9", {object("a", secret)}));
    EXPECT_EQ(said(answers.put(in, "node", "token a", {200, "", secret, {}})), "ok");
    EXPECT_EQ(said(in.commit()), "ok");
    EXPECT_EQ(value(cache.list(scope)).front().bytes, secret);
    EXPECT_EQ(value(answers.find("node", "token a"))->bytes, secret);
    const std::string set = change;
    if (set.empty()) continue;
    ASSERT_EQ(said(database_.execute("UPDATE object SET " + set + "; UPDATE answer SET " + set)),
              "ok");
    // An attacker would adjust the checksums as well.
    const std::int64_t mark =
        set == "packed = 0" ? 0 : static_cast<std::int64_t>(secret.size()) - 1;
    Statement rows = database_.prepare(
        "SELECT uid, resource_version, bytes FROM object UNION ALL"
        " SELECT '', '', bytes FROM answer WHERE key = 'token a'");
    std::vector<std::int64_t> sums;
    {
      Cursor row = rows.use();
      ASSERT_TRUE(value(row.next()));
      sums.push_back(checksum({"ns", "a", row.text(0), row.text(1), row.blob(2)}, mark));
      ASSERT_TRUE(value(row.next()));
      sums.push_back(checksum(row.blob(2), mark));
    }
    for (const char* table : {"object", "answer"}) {
      const std::string sum = std::to_string(sums[table == std::string("answer") ? 1 : 0]);
      const std::string update = std::string("UPDATE ") + table + " SET checksum = " + sum;
      ASSERT_EQ(said(database_.execute(update)), "ok");
    }
    EXPECT_EQ(said(cache.list(scope)), "denied: cached object ns/a: another key");
    EXPECT_EQ(said(answers.find("node", "token a")), "denied: cached answer: another key");
  }
}

TEST_F(SealTest, PackedRowsAreSealedAnew) {
  const std::string secret = "password" + std::string(1000, 'x');
  const std::vector<CachedObject> objects{object("a", secret)};
  Cache plain(database_);
  Transaction in = value(database_.begin());
  const ScopeId scope = value(plain.open_scope(in, secrets, {})).id;
  value(plain.replace_all(in, scope, "9", objects));
  EXPECT_EQ(said(in.commit()), "ok");
  for (const FakeSeal* key : {&old_key, &new_key}) {
    EXPECT_EQ(value(reseal(database_, &old_key, with(key))).objects, 1);
    Cache sealed(database_, with(key));
    EXPECT_EQ(value(sealed.list(scope)), objects);
  }
}

TEST_F(SealTest, AnotherKeyOrNoneReadsAllButTheSealed) {
  fill(&old_key);
  EXPECT_EQ(shown(&new_key),
            "denied: cached object ns/a: another key pod p denied: cached answer: another key "
            "v1.32 ");
  EXPECT_EQ(shown(nullptr),
            "denied: cached object ns/a: sealed, and no key is given pod p "
            "denied: cached answer: sealed, and no key is given v1.32 ");
}

TEST_F(SealTest, WhatDidNotChangeIsNotWrittenAndAnotherKeyIsAChange) {
  fill(&old_key);
  Cache cache(database_, with(&old_key));
  const ScopeId scope = value(cache.find_scope(secrets))->id;
  const std::vector<CachedObject> same{object("a", "password"), object("b", "phrase")};
  Transaction in = value(database_.begin());
  EXPECT_EQ(value(cache.replace_all(in, scope, "9", same)), (Replaced{0, 2, 0}));
  Cache renewed(database_, with(&new_key));
  EXPECT_EQ(value(renewed.replace_all(in, scope, "9", same)), (Replaced{2, 0, 0}));
  EXPECT_EQ(said(in.commit()), "ok");
  EXPECT_EQ(value(renewed.list(scope)).size(), 2u);
}

TEST_F(SealTest, ARowThatWasMovedDoesNotOpen) {
  fill(&old_key);
  ASSERT_EQ(said(database_.execute(
                "UPDATE object SET bytes = (SELECT bytes FROM object WHERE name = 'b'), checksum ="
                " (SELECT checksum FROM object WHERE name = 'b') WHERE name = 'a'")),
            "ok");
  EXPECT_NE(shown(&old_key).find("corrupt: cached object ns/a"), std::string::npos);
}

// A user who can write to the file but has no key must not be able to show a row to another owner.
TEST_F(SealTest, ARowThatWasCopiedToAnotherOwnerOrScopeDoesNotOpen) {
  fill(&old_key);
  Cache cache(database_, with(&old_key));
  const std::pair<const char*, ScopeKey> rows[] = {
      {"owner", {.owner = "mallory", .version = "v1", .resource = "secrets"}},
      {"namespace",
       {.owner = "node", .version = "v1", .resource = "secrets", .namespace_name = "ns"}},
      {"selector",
       {.owner = "node", .version = "v1", .resource = "secrets", .field_selector = "f"}},
      {"encoding",
       {.owner = "node", .version = "v1", .resource = "secrets", .encoding = "protobuf"}},
      {"version", {.owner = "node", .version = "v2", .resource = "secrets"}},
      {"group", {.owner = "node", .group = "g", .version = "v1", .resource = "secrets"}},
  };
  for (const auto& [name, key] : rows) {
    SCOPED_TRACE(name);
    Transaction in = value(database_.begin());
    const ScopeId scope = value(cache.open_scope(in, key, {})).id;
    value(cache.replace_all(in, scope, "9", {}));
    EXPECT_EQ(said(in.commit()), "ok");
    const std::string copy =
        "INSERT INTO object SELECT " + std::to_string(static_cast<std::int64_t>(scope)) +
        ", namespace, name, uid, resource_version, local_version, checksum, bytes, sealed, packed"
        " FROM object WHERE name = 'a' AND scope = 1";
    ASSERT_EQ(said(database_.execute(copy)), "ok");
    EXPECT_EQ(said(cache.list(scope)), "denied: cached object ns/a: another key");
  }
  ASSERT_EQ(said(database_.execute("UPDATE answer SET owner = 'mallory' WHERE key = 'token a'")),
            "ok");
  Answers answers(database_, {}, with(&old_key));
  EXPECT_EQ(said(answers.find("mallory", "token a")), "denied: cached answer: another key");
}

TEST_F(SealTest, WithAKeyNothingPlainIsTakenForASecret) {
  fill(nullptr);
  EXPECT_EQ(shown(&old_key),
            "denied: cached object ns/a: not sealed, although a key is given pod p "
            "denied: cached answer: not sealed, although a key is given v1.32 ");
  EXPECT_EQ(shown(nullptr), all) << "without a key the file is unchanged";
}

TEST_F(SealTest, SealingHappensOnce) {
  fill(nullptr);
  EXPECT_EQ(value(seal_once(database_, with(&old_key))), (Resealed{2, 1}));
  EXPECT_EQ(shown(&old_key), all);
  for (const char* hidden : {"password", "phrase", "my token"}) {
    EXPECT_FALSE(file_has(hidden)) << hidden;
  }
  // An attacker replaces the rows by plain ones.
  Cache plain(database_);
  Transaction in = value(database_.begin());
  const ScopeId scope = value(plain.find_scope(secrets))->id;
  value(plain.replace_all(in, scope, "10", {object("a", "forged")}));
  EXPECT_EQ(said(in.commit()), "ok");
  EXPECT_EQ(value(seal_once(database_, with(&old_key))), Resealed{});
  EXPECT_EQ(value(seal_once(database_, with(&new_key))), Resealed{})
      << "with another key it does nothing, either";
  EXPECT_EQ(shown(&old_key).find("forged"), std::string::npos) << shown(&old_key);
}

// Rows of schema 2 were sealed with names that do not contain the scope.
TEST_F(SealTest, OldNamesAreReplacedOnceAndNotTakenLater) {
  fill(&old_key);
  const auto seal_as_before = [this] {
    const std::string old = old_key.seal("password", old_object_seal_name({"ns", "a", "uid", "7"}));
    const std::int64_t sum = checksum({"ns", "a", "uid", "7", old});
    Statement set =
        database_.prepare("UPDATE object SET bytes = ?1, checksum = ?2 WHERE name = 'a'");
    ASSERT_EQ(said(set.use(Blob{old}, sum).run()), "ok");
  };
  seal_as_before();
  EXPECT_NE(shown(&old_key).find("denied: cached object ns/a"), std::string::npos);
  EXPECT_EQ(value(seal_once(database_, with(&old_key))), (Resealed{1, 0}));
  EXPECT_EQ(shown(&old_key), all);
  seal_as_before();
  EXPECT_EQ(value(seal_once(database_, with(&old_key))), Resealed{});
  EXPECT_NE(shown(&old_key).find("denied: cached object ns/a"), std::string::npos);
  EXPECT_EQ(said(reseal(database_, &old_key, with(&new_key))), "denied: secrets ns/a: another key");
}

TEST_F(SealTest, WhatAnotherKeySealedStays) {
  fill(&new_key);
  EXPECT_EQ(value(seal_once(database_, with(&old_key))), Resealed{});
  EXPECT_EQ(shown(&new_key), all);
}

TEST_F(SealTest, PlainRowsAreSealedOnceThereIsAKey) {
  fill(nullptr);
  EXPECT_TRUE(file_has("password"));
  EXPECT_EQ(value(reseal(database_, nullptr, with(&old_key))), (Resealed{2, 1}));
  EXPECT_EQ(value(reseal(database_, nullptr, with(&old_key))), (Resealed{0, 0}));
  EXPECT_EQ(shown(&old_key), all);
  for (const char* hidden : {"password", "phrase", "my token"}) {
    EXPECT_FALSE(file_has(hidden)) << hidden;
  }
}

TEST_F(SealTest, AllOfItIsSealedWithANewKeyOrNothing) {
  fill(&old_key);
  EXPECT_EQ(said(reseal(database_, &new_key, with(&new_key))), "denied: secrets ns/a: another key");
  EXPECT_EQ(shown(&old_key), all) << "nothing may have changed";
  EXPECT_EQ(value(reseal(database_, &old_key, with(&new_key))), (Resealed{2, 1}));
  EXPECT_EQ(shown(&new_key), all);
  EXPECT_EQ(value(reseal(database_, &new_key, with(&new_key))), (Resealed{0, 0}));
  // Some rows have another key than the rest: none may be changed.
  ASSERT_EQ(said(database_.execute("UPDATE answer SET bytes = x'00', checksum = -1"
                                   " WHERE key = 'token a'")),
            "ok");
  EXPECT_EQ(said(reseal(database_, &new_key, with(&old_key))),
            "corrupt: answer token fails its checksum");
  EXPECT_EQ(shown(&new_key).substr(0, 16), "password phrase ");
}

TEST_F(SealTest, WhoeverKeepsTheLogFromBeingEmptiedIsAConflict) {
  const std::filesystem::path file = dir_.path() / "shared.db";
  const DatabaseOptions options{.access = Access::shared,
                                .busy_timeout = std::chrono::milliseconds(1)};
  database_ = value(Database::open(file, options));
  ASSERT_EQ(said(migrate(database_, cache_schema())), "ok");
  fill(nullptr);
  Database other = value(Database::open(file, options));
  Statement select = other.prepare("SELECT name FROM object");
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    Cursor row = select.use();
    ASSERT_TRUE(value(row.next()));
    const auto done =
        again ? reseal(database_, &old_key, with(&new_key)) : seal_once(database_, with(&old_key));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::conflict) << done.error().what;
  }
  EXPECT_EQ(value(seal_once(database_, with(&new_key))), Resealed{})
      << "now the log can be emptied";
  EXPECT_FALSE(file_has("password", "shared.db"));
  EXPECT_EQ(shown(&new_key), all);
}

TEST_F(SealTest, AnOlderProgramFindsNothingThatItWouldMistake) {
  fill(&old_key);
  const auto steps = cache_schema().migrations;
  for (const std::size_t step : {3U, 2U, 1U}) {
    ASSERT_EQ(said(database_.execute(steps[step].down)), "ok");
  }
  for (const std::size_t step : {1U, 2U, 3U}) {
    ASSERT_EQ(said(database_.execute(steps[step].up)), "ok");
  }
  EXPECT_EQ(shown(nullptr).substr(0, 12), "unavailable:") << "the scope must be listed again";
  EXPECT_NE(shown(nullptr).find("pod p"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::store
