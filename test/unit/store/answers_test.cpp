// Cached answers: kept per owner, limited, expired by whoever has a clock.

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

TEST_F(AnswersTest, HaveLimits) {
  Answers answers(database_, {.rows = 2, .bytes = 10});
  const std::string full = "exhausted: the cache holds as many answers as it may";
  EXPECT_EQ(said(put(answers, "o", "a", {200, "", "12345678901", {}})), full);
  EXPECT_EQ(said(put(answers, "o", "a", {200, "", "123456", {}})), "ok");
  EXPECT_EQ(said(put(answers, "o", "b", {200, "", "12345", {}})), full);
  EXPECT_EQ(said(put(answers, "o", "a", {200, "", "1234567890", {}})), "ok");  // in its own place
  EXPECT_EQ(said(put(answers, "o", "b", {204, "", "", {}})), "ok");
  EXPECT_EQ(said(put(answers, "o", "c", {204, "", "", {}})), full);
}

TEST_F(AnswersTest, ExpireWhenTold) {
  Answers answers(database_);
  ASSERT_EQ(said(put(answers, "o", "never", apis)), "ok");
  ASSERT_EQ(said(put(answers, "o", "soon", token)), "ok");
  Transaction transaction = value(database_.begin());
  EXPECT_EQ(value(answers.remove_expired(transaction, WallTime{100s})), 0);
  EXPECT_EQ(value(answers.remove_expired(transaction, WallTime{101s})), 1);
  EXPECT_EQ(value(answers.find("o", "soon")), std::nullopt);
  EXPECT_EQ(value(answers.find("o", "never")), apis);
}

TEST_F(AnswersTest, DamagedBytesAreSeen) {
  Answers answers(database_);
  ASSERT_EQ(said(put(answers, "o", "k", apis)), "ok");
  ASSERT_EQ(said(database_.execute("UPDATE answer SET bytes = x'00'")), "ok");
  EXPECT_EQ(said(answers.find("o", "k")), "corrupt: cached answer k fails its checksum");
}

}  // namespace
}  // namespace holdfast::store
