// When the output of a container was written: "log.times" beside its log.
//
// The container writes its log itself, so that it needs nobody to live. Its shim notices that the
// log has grown and records its size and the time. A record is 16 bytes: two numbers of 64 bits,
// the least significant byte first. What the shim does not notice, because it was killed, has the
// time at which the log was last changed.

#pragma once

#include <cstdint>
#include <optional>

#include "platform/fs/file.h"
#include "platform/time.h"

namespace holdfast::agent::node {

inline constexpr const char* log_times_file = "log.times";

// Records in a container's directory. Used by its shim only.
class LogTimesWriter {
 public:
  // Watches the log in `dir`, which exists. If that is not possible, nothing is recorded. `clock`
  // outlives this.
  LogTimesWriter(const Clock& clock, const fs::Path& dir);

  // Becomes readable when the log changes; -1 without a watch.
  [[nodiscard]] int descriptor() const { return watch_.get(); }
  // Records the log's size, if it has changed. After the log was cut, the records begin anew.
  void note();
  // How long to wait after note(), so that a container that writes all the time costs little.
  [[nodiscard]] Duration pause() const;

 private:
  const Clock& clock_;
  Descriptor watch_;
  Descriptor log_;
  Descriptor times_;
  std::uint64_t seen_ = 0;     // the size of the log at the last record
  std::uint64_t written_ = 0;  // bytes of log.times
};

// Reads the records while the log is read from its beginning to its end.
class LogTimesReader {
 public:
  explicit LogTimesReader(const fs::Path& file);

  // When the byte at `offset` of the log had been written; nothing if that is not recorded.
  [[nodiscard]] std::optional<WallTime> time_of(std::uint64_t offset);

 private:
  struct Record {
    std::uint64_t size = 0;
    WallTime time{};
  };
  [[nodiscard]] std::optional<Record> read(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t count() const;

  Descriptor file_;
  std::uint64_t next_ = 0;  // the first record that may be the answer
  std::uint64_t asked_ = 0;
};

}  // namespace holdfast::agent::node
