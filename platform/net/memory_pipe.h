// One direction of a connection in memory, with latency, bandwidth, a bounded buffer, and the end
// or the reset of the stream. Private to platform/net.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/loop/timer.h"
#include "platform/time.h"

namespace holdfast::net {

namespace asio = boost::asio;

// What a direction of a link does to its bytes. A change applies to bytes that are written later;
// `is_silent` applies to bytes in transit as well.
struct LinkConditions {
  Duration latency{};
  std::int64_t bytes_per_s = 0;  // 0: unlimited
  // The bytes that a connection accepts before the peer has read them. At least 1.
  std::size_t buffer_bytes = std::size_t{256} << 10U;
  // A black hole: nothing arrives, neither bytes nor ends, resets or connections. What was sent
  // arrives after the hole has ended, as TCP sends again what was lost.
  bool is_silent = false;

  bool operator==(const LinkConditions&) const = default;
};

class MemoryPipe;

// The conditions of a direction, which its connections share.
class LinkDirection {
 public:
  [[nodiscard]] const LinkConditions& conditions() const { return conditions_; }
  // Applies `conditions` and wakes what waits for the link. A buffer of no bytes or a negative
  // value stops the process.
  void set(const LinkConditions& conditions);

  // When the last of `count` bytes arrives that are sent at `now`.
  [[nodiscard]] MonoTime arrival(MonoTime now, std::size_t count);

 private:
  friend class MemoryPipe;

  LinkConditions conditions_;
  MonoTime line_free_{};  // when the bytes that were accepted so far have left
  std::deque<std::weak_ptr<MemoryPipe>> pipes_;
};

class MemoryPipe {
 public:
  enum class State { open, ended, reset };

  [[nodiscard]] static std::shared_ptr<MemoryPipe> create(const asio::any_io_executor& executor,
                                                          std::shared_ptr<LinkDirection> link);

  // The writer's side.
  [[nodiscard]] std::size_t room() const;
  void write(std::string_view bytes);  // at most room() bytes
  // After the bytes, the reader reads the end of the stream or a reset. With `drops`, bytes that
  // have not arrived are lost.
  void end();
  void reset(bool drops);

  // The reader's side.
  [[nodiscard]] bool has_arrived() const;  // whether read() would return at once
  // What has arrived, into `into`: bytes, or 0 at the end or the reset of the stream, of which
  // `state` tells.
  [[nodiscard]] std::size_t read(std::span<char> into, State& state);
  [[nodiscard]] bool has_unread() const { return unread_ > 0; }  // also bytes in transit
  void abandon();  // the reader is gone; what is written is dropped

  // Whether the writer could know that the reader is gone.
  [[nodiscard]] bool is_known_abandoned() const {
    return is_abandoned_ && !link_->conditions().is_silent;
  }
  [[nodiscard]] bool is_closed() const { return is_closed_; }

  // Fires when something may have arrived, or when there may be room. Each wait ends with an error
  // code, which says nothing; the waiter looks again.
  [[nodiscard]] loop::Timer& readable();  // armed for the next arrival
  [[nodiscard]] loop::Timer& writable() { return writable_; }
  void wake();

 private:
  MemoryPipe(const asio::any_io_executor& executor, std::shared_ptr<LinkDirection> link);

  struct Segment {
    MonoTime arrives;
    std::string bytes;  // none: the end or the reset
  };

  [[nodiscard]] MonoTime now() const { return loop::clock_of(executor_).mono(); }
  void enqueue(std::string bytes);
  void drop();
  void drop_in_transit();

  asio::any_io_executor executor_;
  std::shared_ptr<LinkDirection> link_;
  std::deque<Segment> segments_;
  std::size_t consumed_ = 0;  // of the first segment
  std::size_t unread_ = 0;    // bytes of all segments
  MonoTime last_arrival_{};
  bool is_closed_ = false;  // ended or reset by the writer
  bool is_reset_ = false;
  bool is_abandoned_ = false;
  loop::Timer readable_;
  loop::Timer writable_;
};

}  // namespace holdfast::net
