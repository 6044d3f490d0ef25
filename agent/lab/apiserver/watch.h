// Watches: streams of events, fed from the registry's changes.
// Each change costs one prefix comparison for each open watch. One tick() per second serves
// bookmarks and timeouts of all watches. A client that reads too slowly gets what waits for it, and
// is disconnected, when more than `WatchLimits::pending` bytes would wait.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "agent/lab/apiserver/selection.h"
#include "agent/lab/apiserver/view.h"
#include "platform/http/message.h"
#include "platform/loop/event.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

namespace asio = boost::asio;

struct WatchLimits {
  std::size_t pending = 8UL << 20;                // bytes not sent yet, of one watch
  Duration bookmarks = std::chrono::seconds(60);  // interval
};

// The parameters of a watch.
struct WatchOrder {
  View view;
  Selection selection;
  std::string prefix;               // of the keys to watch
  MonoTime ends = MonoTime::max();  // timeoutSeconds
  bool bookmarks = false;
};

class Watch final : public http::BodyStream {
 public:
  Watch(asio::any_io_executor executor, WatchOrder order, const WatchLimits& limits, MonoTime now);

  // The bytes that wait, as soon as there are any; "" at the end. Errors: cancelled, unavailable
  // (the client reads too slowly).
  asio::awaitable<Result<std::string>> next() override;
  void cancel() override;

  // Ends the watch after the bytes that wait.
  void finish();
  [[nodiscard]] bool over() const { return finished_ || cancelled_; }

  // The initial ADDED events.
  void add_initial(const std::vector<StoredPtr>& objects, WallTime now);
  // `initial_end` marks the end of the initial events.
  void add_bookmark(std::int64_t revision, bool initial_end);
  // Adds an ERROR event with a Status and ends the watch.
  void add_error(std::string_view status);
  void add(const Change& change, WallTime now);
  void tick(MonoTime now, std::int64_t revision);

  [[nodiscard]] bool concerns(std::string_view key) const { return key.starts_with(order_.prefix); }

 private:
  void push(std::string line);

  WatchOrder order_;
  WatchLimits limits_;
  loop::Event changed_;
  std::string pending_;
  MonoTime next_bookmark_;
  bool columns_sent_ = false;
  bool finished_ = false;
  bool cancelled_ = false;
  bool overrun_ = false;
};

// All watches of a server.
class WatchHub {
 public:
  WatchHub(asio::any_io_executor executor, WatchLimits limits)
      : executor_(std::move(executor)), limits_(limits) {}

  // A watch that gets every change from now on.
  [[nodiscard]] std::shared_ptr<Watch> open(WatchOrder order, MonoTime now);
  void publish(const Change& change, WallTime now);
  void tick(MonoTime now, std::int64_t revision);
  // Ends all watches regularly.
  void finish_all();
  [[nodiscard]] std::size_t size() const { return watches_.size(); }

 private:
  asio::any_io_executor executor_;
  WatchLimits limits_;
  std::list<std::weak_ptr<Watch>> watches_;
};

}  // namespace holdfast::agent::lab
