#include "platform/net/memory_pipe.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::net {
namespace {

// How much of a long write arrives together on a line of limited speed: a few packets of Ethernet.
constexpr std::size_t segment_bytes = 4096;

}  // namespace

void LinkDirection::set(const LinkConditions& conditions) {
  CHECK(conditions.latency >= Duration::zero());
  CHECK(conditions.bytes_per_s >= 0);
  CHECK(conditions.buffer_bytes > 0);
  conditions_ = conditions;
  std::erase_if(pipes_, [](const auto& pipe) { return pipe.expired(); });
  for (const auto& pipe : pipes_) {
    if (const auto live = pipe.lock()) live->wake();
  }
}

MonoTime LinkDirection::arrival(MonoTime now, std::size_t count) {
  line_free_ = std::max(line_free_, now);
  if (conditions_.bytes_per_s > 0) {
    constexpr std::int64_t second = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
    const double share = static_cast<double>(count) / static_cast<double>(conditions_.bytes_per_s);
    line_free_ += Duration(static_cast<std::int64_t>(share * static_cast<double>(second)));
  }
  return line_free_ + conditions_.latency;
}

MemoryPipe::MemoryPipe(const asio::any_io_executor& executor, std::shared_ptr<LinkDirection> link)
    : executor_(executor),
      link_(std::move(link)),
      readable_(executor, MonoTime::max()),
      writable_(executor, MonoTime::max()) {}

std::shared_ptr<MemoryPipe> MemoryPipe::create(const asio::any_io_executor& executor,
                                               std::shared_ptr<LinkDirection> link) {
  auto& pipes = link->pipes_;
  std::erase_if(pipes, [](const auto& pipe) { return pipe.expired(); });
  std::shared_ptr<MemoryPipe> made(new MemoryPipe(executor, link));
  pipes.push_back(made);
  return made;
}

std::size_t MemoryPipe::room() const {
  const std::size_t limit = link_->conditions().buffer_bytes;
  return limit - std::min(limit, unread_);
}

void MemoryPipe::enqueue(std::string bytes) {
  last_arrival_ = std::max(last_arrival_, link_->arrival(now(), bytes.size()));
  unread_ += bytes.size();
  segments_.push_back({last_arrival_, std::move(bytes)});
  readable_.cancel();
}

void MemoryPipe::write(std::string_view bytes) {
  CHECK(!is_closed_);
  CHECK(!bytes.empty() && bytes.size() <= room());
  // A link that is silent does not tell the writer's kernel that the reader is gone.
  if (is_abandoned_ && !link_->conditions().is_silent) return;
  // What takes its time arrives while it is sent, and not only when the last byte is there.
  const std::size_t most = link_->conditions().bytes_per_s > 0 ? segment_bytes : bytes.size();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(most, bytes.size()))) {
    enqueue(std::string(bytes.substr(0, most)));
  }
}

void MemoryPipe::end() {
  if (std::exchange(is_closed_, true)) return;
  enqueue({});
}

void MemoryPipe::reset(bool drops) {
  if (std::exchange(is_reset_, true)) return;
  is_closed_ = true;
  if (drops) drop_in_transit();
  enqueue({});
  writable_.cancel();
}

void MemoryPipe::drop_in_transit() {
  const bool is_silent = link_->conditions().is_silent;
  while (!segments_.empty() && (is_silent || segments_.back().arrives > now())) {
    const std::size_t consumed = segments_.size() == 1 ? std::exchange(consumed_, 0) : 0;
    unread_ -= segments_.back().bytes.size() - consumed;
    segments_.pop_back();
  }
  last_arrival_ = segments_.empty() ? MonoTime{} : segments_.back().arrives;
}

bool MemoryPipe::has_arrived() const {
  return !link_->conditions().is_silent && !segments_.empty() && segments_.front().arrives <= now();
}

std::size_t MemoryPipe::read(std::span<char> into, State& state) {
  state = State::open;
  std::size_t count = 0;
  while (has_arrived() && count < into.size()) {
    const Segment& first = segments_.front();
    if (first.bytes.empty()) {  // stays, so that it is read again
      if (count == 0) state = is_reset_ ? State::reset : State::ended;
      break;
    }
    const std::size_t copied =
        first.bytes.copy(into.data() + count, into.size() - count, consumed_);
    count += copied;
    consumed_ += copied;
    if (consumed_ == first.bytes.size()) {
      consumed_ = 0;
      segments_.pop_front();
    }
  }
  unread_ -= count;
  if (count > 0) writable_.cancel();
  return count;
}

void MemoryPipe::abandon() {
  is_abandoned_ = true;
  drop();
  wake();
}

void MemoryPipe::drop() {
  segments_.clear();
  consumed_ = 0;
  unread_ = 0;
}

loop::Timer& MemoryPipe::readable() {
  const bool is_due = !link_->conditions().is_silent && !segments_.empty();
  readable_.expires_at(is_due ? segments_.front().arrives : MonoTime::max());
  return readable_;
}

void MemoryPipe::wake() {
  readable_.cancel();
  writable_.cancel();
}

}  // namespace holdfast::net
