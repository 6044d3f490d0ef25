// Cached answers: stored per owner, limited in size, and those of foreign owners removed when the
// caller says that they have expired.

#include "store/answers.h"

#include "store/cache.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

class AnswersTest : public testing::Test {
 protected:
  AnswersTest() { EXPECT_EQ(said(migrate(database_, cache_schema())), "ok"); }

  Status put(Answers& answers, std::string_view owner, std::string_view key, const Answer& answer) {
    TRY(Transaction transaction, database_.begin());
    if (auto done = answers.put(transaction, owner, key, answer); !done) return done;
    return transaction.commit();
  }

  Database database_ = Database::in_memory();
};

const Answer apis{200, "application/json", "{}", {}};
const Answer token{201, "application/json", "secret", WallTime{100s}};

TEST_F(AnswersTest, AreKeptPerOwnerAndKey) {
  Answers answers(database_);
  ASSERT_EQ(said(put(answers, "kubelet", "/apis", apis)), "ok");
  ASSERT_EQ(said(put(answers, "kubelet", "/token", token)), "ok");
  EXPECT_EQ(value(answers.find("kubelet", "/apis")), apis);
  EXPECT_EQ(value(answers.find("kubelet", "/token")), token);
  EXPECT_EQ(value(answers.find("proxy", "/token")), std::nullopt);

  const Answer renewed{201, "application/json", "another", WallTime{200s}};
  ASSERT_EQ(said(put(answers, "kubelet", "/token", renewed)), "ok");
  EXPECT_EQ(value(answers.find("kubelet", "/token")), renewed);

  Transaction transaction = value(database_.begin());
  ASSERT_EQ(said(answers.remove(transaction, "kubelet", "/token")), "ok");
  EXPECT_EQ(value(answers.find("kubelet", "/token")), std::nullopt);
}

TEST_F(AnswersTest, AreNotWrittenWhenTheyAreTheSame) {
  Answers answers(database_);
  ASSERT_EQ(said(put(answers, "o", "k", token)), "ok");
  const struct {
    std::string name;
    Answer answer;
    std::int64_t changes;
  } rows[] = {
      {"same", token, 0},
      {"other status", {200, token.content_type, token.bytes, token.expires}, 1},
      {"never expires", {200, token.content_type, token.bytes, {}}, 1},
      {"still never", {200, token.content_type, token.bytes, {}}, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    Transaction transaction = value(database_.begin());
    ASSERT_EQ(said(answers.put(transaction, "o", "k", row.answer)), "ok");
    EXPECT_EQ(database_.changes(), row.changes);
    ASSERT_EQ(said(transaction.commit()), "ok");
  }
}

TEST_F(AnswersTest, OneThatIsTooLargeIsNotKept) {
  Answers answers(database_, {.answer_bytes = 10});
  const std::string large = "exhausted: an answer of more than 10 bytes";
  EXPECT_EQ(said(put(answers, "node", "a", {200, "", "1234567890", {}})), large);
  EXPECT_EQ(said(put(answers, "node", "a", {200, "", "123456789", {}})), "ok");
}

TEST_F(AnswersTest, KeysCountByTheirBytes) {
  // 20 characters with 40 bytes: ten such keys have 400 bytes, of which 210 hold five.
  Answers answers(database_, {.foreign_bytes = 210});
  const auto kept = [this] {
    auto statement = database_.prepare("SELECT count(*) FROM answer");
    Cursor row = statement.use();
    EXPECT_TRUE(value(row.next()));
    return row.integer(0);
  };
  for (int i = 0; i < 10; ++i) {
    std::string key = "/" + std::to_string(i);
    for (int at = 0; at < 19; ++at) key += "\u00e9";
    ASSERT_EQ(said(put(answers, "o", key, {200, "", "", {}})), "ok");
  }
  EXPECT_EQ(kept(), 5);
}

TEST_F(AnswersTest, NobodyIsFirstUnlessItIsSaid) {
  Answers answers(database_, {.rows = 20, .foreign_rows = 4});
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(said(put(answers, "node", "/" + std::to_string(i), apis)), "ok");
  }
  auto statement = database_.prepare("SELECT count(*) FROM answer");
  Cursor row = statement.use();
  ASSERT_TRUE(value(row.next()));
  EXPECT_EQ(row.integer(0), 4);
}

TEST_F(AnswersTest, AnOwnerWhoHasManyLosesTheLeastRecentlyUsed) {
  Answers answers(database_, {.rows = 100, .foreign_rows = 3});
  const auto kept = [&answers](const std::string& key) {
    return value(answers.find("o", key)).has_value();
  };
  for (const char* key : {"/1", "token 1", "/2"}) {
    EXPECT_EQ(said(put(answers, "o", key, apis)), "ok");
  }
  EXPECT_TRUE(kept("/1"));
  EXPECT_EQ(said(put(answers, "o", "/3", apis)), "ok");
  EXPECT_FALSE(kept("/2")) << "documents go first, the least recently used of them";
  EXPECT_TRUE(kept("/1"));
  EXPECT_TRUE(kept("token 1"));
  EXPECT_EQ(said(put(answers, "o", "/1", {200, "", "new", {}})), "ok") << "it replaces its own row";
  EXPECT_TRUE(kept("/3"));
  EXPECT_EQ(said(put(answers, "other", "/1", apis)), "ok");
  EXPECT_TRUE(kept("/1"));
}

TEST_F(AnswersTest, ForeignOwnersShareHalfAndTheNodeAlwaysHasRoom) {
  Answers answers(database_, {.rows = 20, .first_owner = "node", .foreign_rows = 4});
  for (int i = 0; i < 50; ++i) {
    const std::string owner = "stranger " + std::to_string(i);
    for (const char* key : {"/version", "/api"}) {
      EXPECT_EQ(said(put(answers, owner, key, apis)), "ok");
    }
  }
  const auto count = [this](const std::string& where) {
    auto statement = database_.prepare("SELECT count(*) FROM answer WHERE " + where);
    Cursor row = statement.use();
    EXPECT_TRUE(value(row.next()));
    return row.integer(0);
  };
  EXPECT_EQ(count("owner <> 'node'"), 10);
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(said(put(answers, "node", "/api/" + std::to_string(i), apis)), "ok");
  }
  EXPECT_EQ(count("owner = 'node'"), 20) << "foreign answers make room";
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(said(put(answers, "node", "token " + std::to_string(i), token)), "ok");
  }
  EXPECT_EQ(count("key LIKE 'token %'"), 20);
  const std::string full = "exhausted: the cache holds as many answers as it may";
  EXPECT_EQ(said(put(answers, "stranger", "/api", apis)), full) << "the node uses all of the space";
  EXPECT_EQ(said(put(answers, "node", "token 7", apis)), "ok") << "it replaces its own row";
}

TEST_F(AnswersTest, TheNodesTokensMakeRoomForItsOwnTheFirstToExpireFirst) {
  Answers answers(database_, {.rows = 3, .first_owner = "node"});
  const Answer never{200, "text/plain", "Pod v1", {}};
  ASSERT_EQ(said(put(answers, "node", "kind /v1/pods", never)), "ok");
  ASSERT_EQ(said(put(answers, "node", "token late", {201, "", "a", WallTime{300s}})), "ok");
  ASSERT_EQ(said(put(answers, "node", "token early", {201, "", "b", WallTime{200s}})), "ok");
  ASSERT_EQ(said(put(answers, "node", "token new", {201, "", "c", WallTime{100s}})), "ok");
  EXPECT_EQ(value(answers.find("node", "token early")), std::nullopt);
  ASSERT_EQ(said(put(answers, "node", "kind /v1/nodes", never)), "ok");
  EXPECT_EQ(value(answers.find("node", "token new")), std::nullopt);
  ASSERT_EQ(said(put(answers, "node", "kind /v1/secrets", never)), "ok");
  EXPECT_EQ(value(answers.keys("node", "")),
            (std::vector<std::string>{"kind /v1/nodes", "kind /v1/pods", "kind /v1/secrets"}));
  EXPECT_EQ(said(put(answers, "node", "token more", token)),
            "exhausted: the cache holds as many answers as it may");
}

TEST_F(AnswersTest, ThoseOfForeignOwnersExpireWhenTold) {
  Answers answers(database_, {.first_owner = "node"});
  ASSERT_EQ(said(put(answers, "node", "soon", token)), "ok");
  ASSERT_EQ(said(put(answers, "o", "never", apis)), "ok");
  ASSERT_EQ(said(put(answers, "o", "soon", token)), "ok");
  Transaction transaction = value(database_.begin());
  EXPECT_EQ(value(answers.remove_expired(transaction, WallTime{100s})), 0);
  EXPECT_EQ(value(answers.remove_expired(transaction, WallTime{101s})), 1);
  EXPECT_EQ(value(answers.find("o", "soon")), std::nullopt);
  EXPECT_EQ(value(answers.find("o", "never")), apis);
  EXPECT_EQ(value(answers.find("node", "soon")), token);
}

TEST_F(AnswersTest, DamagedBytesAreSeen) {
  Answers answers(database_);
  ASSERT_EQ(said(put(answers, "o", "k", apis)), "ok");
  ASSERT_EQ(said(database_.execute("UPDATE answer SET bytes = x'00'")), "ok");
  EXPECT_EQ(said(answers.find("o", "k")), "corrupt: cached answer k fails its checksum");
}

}  // namespace
}  // namespace holdfast::store
