#include "agent/client/stream_limit.h"

#include <algorithm>
#include <utility>

#include "platform/loop/clock.h"
#include "platform/loop/timer.h"
#include "sync/autonomy/path_time.h"

namespace holdfast::agent {

// Outlives the limit while its timer's handler is queued.
class StreamLimit::Wait : public std::enable_shared_from_this<Wait> {
 public:
  Wait(const asio::any_io_executor& executor, std::shared_ptr<http::BodyStream> stream,
       ReceivedInAll received)
      : clock_(loop::clock_of(executor)),
        timer_(executor, MonoTime::max()),
        stream_(std::move(stream)),
        received_(std::move(received)) {}

  void deadline(MonoTime due) {
    last_ = due;
    wait_until(due);
  }
  void silence(Duration silence) {
    silence_ = silence;
    last_ = clock_.mono() + std::max(silence, busy_silence_max);
    wait_until(clock_.mono() + silence);
  }

  bool stop() {
    stopped_ = true;
    timer_.cancel();
    return cancelled_;
  }

 private:
  void wait_until(MonoTime due) {
    due_ = due;
    before_ = received();
    timer_.expires_at(due_);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec) self->expired();
    });
  }

  void expired() {
    // The handler was queued already when the limit ended or was replaced.
    if (stopped_ || cancelled_ || clock_.mono() < due_) return;
    if (due_ < last_ && sync::autonomy::is_busy(received() - before_)) {
      return wait_until(std::min(clock_.mono() + silence_, last_));
    }
    cancelled_ = true;
    stream_->cancel();
  }

  [[nodiscard]] std::uint64_t received() const { return received_ ? received_() : 0; }

  const Clock& clock_;
  loop::Timer timer_;
  std::shared_ptr<http::BodyStream> stream_;
  ReceivedInAll received_;
  Duration silence_{};
  MonoTime due_{};
  MonoTime last_{};           // however busy the server is
  std::uint64_t before_ = 0;  // received() when the wait began
  bool stopped_ = false;
  bool cancelled_ = false;
};

StreamLimit::StreamLimit(const asio::any_io_executor& executor,
                         std::shared_ptr<http::BodyStream> stream, ReceivedInAll received)
    : wait_(std::make_shared<Wait>(executor, std::move(stream), std::move(received))) {}

StreamLimit::~StreamLimit() { (void)stop(); }

void StreamLimit::deadline(MonoTime due) { wait_->deadline(due); }

void StreamLimit::silence(Duration silence) { wait_->silence(silence); }

bool StreamLimit::stop() { return wait_->stop(); }

}  // namespace holdfast::agent
