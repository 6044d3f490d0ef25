// Reads the log of a container for `kubectl logs`.
//
// The log is the file that a container's output is appended to (process/attempt_files.h). At most
// one block of it is in memory, however long its lines are.
//
// Threading: the loop's thread only. Reading a block takes some microseconds.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/node/process/log_times.h"
#include "agent/node/runtime.h"
#include "platform/http/message.h"
#include "platform/loop/event.h"
#include "sync/node/log_options.h"

namespace holdfast::agent::node {

class LogReader {
 public:
  // Nothing is read yet. `options` have been checked.
  LogReader(ContainerRun run, const sync::node::LogOptions& options, WallTime now);

  // The next text; "" if there is nothing more at present. A log that does not exist yet is empty,
  // and one that was cut is read from its beginning. Errors: those of the file system.
  [[nodiscard]] Result<std::string> read();
  // limitBytes is reached: read() will return nothing any more.
  [[nodiscard]] bool is_done() const { return left_ == 0; }

 private:
  [[nodiscard]] Status open();
  [[nodiscard]] Status find_tail(std::uint64_t size);
  [[nodiscard]] Result<std::size_t> read_block();
  void take(std::string_view block, std::string& out);
  void begin_line(std::string& out);

  ContainerRun run_;
  sync::node::LogOptions options_;
  std::optional<WallTime> since_;
  Descriptor file_;
  LogTimesReader times_;
  std::unique_ptr<char[]> block_;
  std::uint64_t position_ = 0;  // of the next byte to read
  std::uint64_t left_;          // bytes that may still be returned
  bool at_line_start_ = true;
  bool skipping_ = false;  // the present line is older than `since`
};

// The log as the body of a response. With `follow`, it ends when `is_running` says so and all is
// read. `is_running` must be callable as long as the stream exists.
class LogStream final : public http::BodyStream {
 public:
  LogStream(asio::any_io_executor executor, LogReader reader, bool follow,
            std::function<bool()> is_running);

  asio::awaitable<Result<std::string>> next() override;
  void cancel() override;

 private:
  LogReader reader_;
  bool follow_;
  std::function<bool()> is_running_;
  loop::Event changed_;
  bool cancelled_ = false;
};

}  // namespace holdfast::agent::node
