// Logs as `kubectl logs` shows them: options, times, logs that are cut, and following.

#include "agent/node/kubelet/container_log.h"

#include "agent/node/process/attempt_files.h"
#include "platform/loop/tasks.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::node {
namespace {

using namespace std::chrono_literals;
using sync::node::LogOptions;

class ContainerLog : public testing::Test {
 protected:
  [[nodiscard]] fs::Path log() const { return scratch_.path() / log_file; }
  [[nodiscard]] ContainerRun container() const { return {log(), scratch_.path() / log_times_file}; }
  void write(std::string_view text) { ASSERT_TRUE(fs::append(log(), text)); }
  // Writes and records the time, as a shim does.
  void write_at(Duration second, std::string_view text) {
    write(text);
    if (!times_) times_.emplace(time_.clock(), scratch_.path());
    time_.clock().jump_wall(WallTime(second) - time_.clock().wall());
    times_->note();
  }
  // All that can be read now, or the error.
  [[nodiscard]] std::string read(const LogOptions& options) {
    LogReader reader(container(), options, time_.clock().wall());
    return read_on(reader);
  }
  static std::string read_on(LogReader& reader) {
    std::string all;
    for (;;) {
      auto piece = reader.read();
      if (!piece) return piece.error().what;
      if (piece->empty()) return all;
      all += *piece;
    }
  }

  holdfast::test::ScratchDir scratch_;
  holdfast::test::VirtualTime time_;
  std::optional<LogTimesWriter> times_;
};

TEST_F(ContainerLog, TailAndLimitSelectLinesAndBytes) {
  EXPECT_EQ(read({}), "") << "there is no file yet";
  write("one\ntwo\nthree");
  const struct {
    LogOptions options;
    const char* text;
  } rows[] = {
      {{}, "one\ntwo\nthree"},
      {{.tail_lines = 0}, ""},
      {{.tail_lines = 1}, "three"},
      {{.tail_lines = 2}, "two\nthree"},
      {{.tail_lines = 3}, "one\ntwo\nthree"},
      {{.tail_lines = 99}, "one\ntwo\nthree"},
      {{.limit_bytes = 5}, "one\nt"},
      {{.tail_lines = 2, .limit_bytes = 2}, "tw"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(read(row.options), row.text)
        << row.options.tail_lines.value_or(-1) << " " << row.options.limit_bytes.value_or(-1);
  }
  write("\n");
  EXPECT_EQ(read({.tail_lines = 1}), "three\n");
  EXPECT_EQ(read({.tail_lines = 2}), "two\nthree\n");
}

TEST_F(ContainerLog, LongLinesAndManyLinesAreReadInBlocks) {
  const std::string line = std::string(100'000, 'x') + "\n";
  for (int i = 0; i < 5; ++i) write(line);
  EXPECT_EQ(read({}).size(), 5 * line.size());
  EXPECT_EQ(read({.tail_lines = 2}).size(), 2 * line.size());
  LogReader reader(container(), {}, time_.clock().wall());
  const auto first = reader.read();
  ASSERT_TRUE(first);
  EXPECT_LE(first->size(), 64U * 1024) << "a block, and not a line";
}

TEST_F(ContainerLog, LinesHaveTheTimesAtWhichTheyWereWritten) {
  write("");
  write_at(10s, "one\ntwo\n");
  write_at(20s, "thr");
  write_at(25s + 7ns, "ee\nfour\n");
  EXPECT_EQ(read({.timestamps = true}),
            "1970-01-01T00:00:10.000000000Z one\n"
            "1970-01-01T00:00:10.000000000Z two\n"
            "1970-01-01T00:00:20.000000000Z three\n"
            "1970-01-01T00:00:25.000000007Z four\n");
  EXPECT_EQ(read({.since_time = WallTime(20s)}), "three\nfour\n");
  EXPECT_EQ(read({.since_time = WallTime(21s)}), "four\n");
  EXPECT_EQ(read({.since_seconds = 3}), "four\n");
  EXPECT_EQ(read({.since_time = WallTime(26s)}), "");
  EXPECT_EQ(read({.timestamps = true, .tail_lines = 1}), "1970-01-01T00:00:25.000000007Z four\n");
}

TEST_F(ContainerLog, WithoutRecordsTheFilesTimeCounts) {
  write("one\n");
  EXPECT_EQ(read({.since_time = WallTime(1s)}), "one\n");
  const std::string shown = read({.timestamps = true});
  EXPECT_EQ(shown.size(), std::string_view("1970-01-01T00:00:10.000000000Z one\n").size()) << shown;
  EXPECT_TRUE(shown.starts_with("20")) << shown;
  ASSERT_TRUE(fs::atomic_write(container().log_times, "broken"));
  EXPECT_EQ(read({.timestamps = true}), shown);
}

TEST_F(ContainerLog, ACutLogIsReadFromItsBeginning) {
  write("");
  write_at(10s, "a long first line\n");
  LogReader reader(container(), {.timestamps = true}, time_.clock().wall());
  EXPECT_EQ(read_on(reader), "1970-01-01T00:00:10.000000000Z a long first line\n");
  std::filesystem::resize_file(log(), 0);
  write_at(30s, "next\n");
  EXPECT_EQ(read_on(reader), "1970-01-01T00:00:30.000000000Z next\n");
}

TEST_F(ContainerLog, FollowingEndsWithTheContainer) {
  bool runs = true;
  write("one\n");
  LogStream stream(time_.executor(), LogReader(container(), {}, time_.clock().wall()), true,
                   [&runs] { return runs; });
  std::vector<std::string> seen;
  bool ended = false;
  const auto follow = [&]() -> asio::awaitable<void> {
    for (;;) {
      const auto piece = co_await stream.next();
      if (!piece) seen.push_back(piece.error().what);
      if (!piece || piece->empty()) break;
      seen.push_back(*piece);
    }
    ended = true;
  };
  loop::Tasks tasks(time_.executor());
  tasks.spawn("follow", follow());
  time_.run(5s);
  EXPECT_EQ(seen, (std::vector<std::string>{"one\n"}));
  write("two\n");
  time_.run(1s);
  write("three\n");
  runs = false;
  time_.run(1s);
  EXPECT_TRUE(ended);
  EXPECT_EQ(seen, (std::vector<std::string>{"one\n", "two\n", "three\n"}));
}

TEST_F(ContainerLog, NobodyWaitsForAReaderThatIsGone) {
  LogStream stream(time_.executor(), LogReader(container(), {}, time_.clock().wall()), true,
                   [] { return true; });
  std::string error;
  loop::Tasks tasks(time_.executor());
  const auto follow = [&]() -> asio::awaitable<void> {
    const auto piece = co_await stream.next();
    error = piece ? "a piece" : piece.error().what;
  };
  tasks.spawn("follow", follow());
  time_.run(1s);
  stream.cancel();
  time_.settle();
  EXPECT_EQ(error, "log: nobody reads it any more");
}

}  // namespace
}  // namespace holdfast::agent::node
