// A flash that damages the outbox, or that cannot be written for a while.

#include <gtest/gtest.h>

#include "test/support/captured_log.h"
#include "test/support/fault_vfs.h"
#include "test/unit/agent/edge/uplink/damage.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::damaged_outbox {
namespace {

using namespace damaged;
using sync::autonomy::LinkState;

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* our_pods =
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0";
constexpr std::size_t page = 4096;
constexpr int written = 20;

// Longer than five pages of the file.
std::string long_message(const std::string& word) { return word + std::string(5 * page, 'x'); }

struct DamagedOutbox : testing::Test {
  DamagedOutbox() {
    for (int number = 0; number < written; ++number) {
      fixture.cloud.put(pods, name_of(number),
                        R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Running"}})");
    }
    EXPECT_TRUE(fixture.until(LinkState::connected));
    EXPECT_EQ(fixture.ask(our_pods).status, 200);
    fixture.cut_link();
    write("before");
    fixture.stop();
  }

  void write(const std::string& word) { EXPECT_EQ(accepted(word), written); }
  // How many of the statuses were accepted.
  int accepted(const std::string& word) {
    int count = 0;
    for (int number = 0; number < written; ++number) {
      const int status = fixture.ask(status_of(number, long_message(word))).status;
      EXPECT_TRUE(status == 200 || status == 500) << status;
      if (status == 200) ++count;
    }
    return count;
  }

  [[nodiscard]] std::filesystem::path file() const {
    return std::filesystem::path(fixture.options.data_dir) / "outbox.db";
  }

  [[nodiscard]] int arrived(const std::string& word) const {
    int count = 0;
    for (int number = 0; number < written; ++number) {
      if (fixture.cloud.object(pods, name_of(number)).find(word) != std::string::npos) ++count;
    }
    return count;
  }

  [[nodiscard]] std::ptrdiff_t kept() const {
    return kept_files(fixture.options.data_dir, "outbox.db");
  }

  // How many records of this kind the journal has.
  int recorded(std::string_view kind) {
    const auto journal = sync::wire::parse_json(fixture.admin("/v1/journal?limit=1000")).value();
    int count = 0;
    for (const auto& record : journal.as_array()) {
      if (record.at("kind").as_string() == kind) ++count;
    }
    return count;
  }

  UplinkFixture fixture;
};

TEST_F(DamagedOutbox, IsReplacedAndWhatIsReadableIsSent) {
  const struct {
    const char* what;
    std::size_t first;
    std::size_t count;
    bool while_running;
    int least;  // writes that arrive
    int most;
  } rows[] = {
      // A page holds the beginnings of up to eight entries.
      {"some pages, while it is off", 60, 6, false, written - 9, written - 1},
      {"some pages, while it runs", 60, 6, true, written - 9, written - 1},
      {"the first page, while it is off", 0, 1, false, 0, 0},
      {"all of it, while it runs", 0, 100'000, true, 0, written - 1},
      {"all of it, while it is off", 0, 100'000, false, 0, 0},
  };
  int damaged = 0;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    test::CapturedLog log;
    if (row.while_running) {
      fixture.start();
      fixture.time.run(2min);
      damage(file(), row.first * page, row.count * page);
    } else {
      damage(file(), row.first * page, row.count * page);
      fixture.start();
    }
    // What the node shows its pods is in the cache, and is as it was.
    const http::Response cached = fixture.ask(std::string(pods) + "/p7?resourceVersion=0");
    EXPECT_EQ(cached.status, 200);
    EXPECT_NE(cached.body.find("before"), std::string::npos);
    fixture.restore_link();
    fixture.time.run(2min);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
    EXPECT_GE(arrived("before"), row.least);
    EXPECT_LE(arrived("before"), row.most);
    EXPECT_NE(log.take().find("error outbox was damaged: file kept"), std::string::npos);
    EXPECT_EQ(kept(), std::min(++damaged, 3));
    EXPECT_EQ(recorded("damage"), 1);

    // Later writes are kept and sent as ever.
    fixture.cut_link();
    write("later");
    fixture.restore_link();
    fixture.time.run(1min);
    EXPECT_EQ(arrived("later"), written);
    EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
    fixture.cut_link();
    write("before");
    fixture.stop();
  }
}

// A flash that wears out damages one page after the other.
TEST_F(DamagedOutbox, IsReplacedAgainIfThatIsDamagedToo) {
  const auto damage_all = [this] {
    // Otherwise SQLite would go on with the pages that it has in memory.
    EXPECT_TRUE(fixture.edge->offline_store().database().execute("PRAGMA shrink_memory"));
    damage(file(), 0, 100 << 20);
    damage(file().string() + "-wal", 0, 100 << 20);
  };
  damage(file(), 60 * page, 6 * page);
  fixture.start();
  EXPECT_EQ(kept(), 1);
  for (int file = 2; file <= 3; ++file) {
    damage_all();
    write("later");
    EXPECT_EQ(kept(), file);
    fixture.time.run(5s);
  }
  // A disk that damages everything must not cost a file for each write.
  damage_all();
  EXPECT_LT(accepted("refused"), written);
  fixture.time.run(1min);
  write("last");
  fixture.restore_link();
  fixture.time.run(1min);
  EXPECT_EQ(arrived("last"), written);
}

// No write is accepted that could not be kept, and all is well once the disk is.
TEST_F(DamagedOutbox, WritesAreSentAfterADiskThatFailedWhileTheyWere) {
  const struct {
    test::DiskFault fault;
    const char* word;  // of the statuses that wait
    const char* next;
  } rows[] = {{test::DiskFault::full, "before", "later"}, {test::DiskFault::broken, "later", ""}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.word);
    test::use_for_all(true);
    test::follow({});
    fixture.start();
    bool is_first = true;
    fixture.servers[0]->special =
        [&is_first, &row](const http::Request& request) -> std::optional<http::Response> {
      if (request.method == http::Method::patch && request.path().ends_with("/status") &&
          std::exchange(is_first, false)) {
        test::follow({.fail_from = 1, .fault = row.fault, .within = "outbox.db"});
      }
      return std::nullopt;
    };
    fixture.servers[0]->restore();
    test::CapturedLog log;
    ASSERT_TRUE(fixture.time.run_until(2min, [&is_first] { return !is_first; }));
    fixture.time.run(1min);
    const std::string told = log.take();
    EXPECT_NE(told.find("check the space and the health of the disk"), std::string::npos) << told;
    const http::Response refused = fixture.ask(status_of(0, long_message("refused")));
    EXPECT_TRUE(refused.status == 200 || refused.status >= 500) << refused.status;
    test::follow({});
    fixture.time.run(10min);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
    EXPECT_EQ(arrived(row.word) + arrived("refused"), written);
    EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
    fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
    fixture.cut_link();
    write(row.next);
    fixture.stop();
    test::use_for_all(false);
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink::damaged_outbox
