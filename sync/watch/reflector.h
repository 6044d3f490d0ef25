// Keeps one scope up to date with an API server: lists it in pages, watches it, starts again
// where it must. The machine decides; whoever owns it sends, receives and waits.
//
// It behaves as client-go's reflector, but for two things that spare an edge's uplink: a watch that
// broke or was very short is watched again from where it was instead of listed again, and a
// watch that outlives its timeout is taken for dead.
//
// A list reaches the owner only as a whole: Replace comes after the last page, or never. With
// ReflectorConfig::by_page each page reaches the owner at once, so that nobody has to hold the
// whole list; EndList comes after the last page, or never.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "platform/random.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/api/status.h"
#include "sync/watch/backoff.h"
#include "sync/watch/frames.h"

namespace holdfast::sync {

struct ReflectorConfig {
  std::string first_list_version = "0";  // "0": any state will do; "": the newest
  std::int64_t page_size = 500;          // of lists that are not served from a watch cache
  Duration watch_timeout_min = std::chrono::minutes(5);  // the server is asked for 1 to 2 times it
  Duration watch_overtime = std::chrono::seconds(30);    // then a watch that goes on is dead
  Duration short_watch = std::chrono::seconds(1);        // shorter and without events: suspicious
  std::size_t list_bytes = 256UL << 20;                  // of all pages together
  std::size_t list_items = 10'000'000;                   // objects of all pages together
  bool by_page =
      false;  // TakePage and EndList instead of Replace; every list is asked for in pages
  BackoffConfig backoff = {};
  // Used instead of `backoff` after a failed list, and after a failed watch that only a list can
  // follow (but not when its version is gone): a scope that stays broken is asked for less and less
  // often, while a watch that breaks now and then is opened again soon. Without it, `backoff`.
  std::optional<BackoffConfig> list_backoff = {};
  Duration refused_pause = {};  // the least pause after is_refusal(); needs list_backoff
};

// Why a request did not work.
struct Failure {
  int http_status = 0;  // 0: no answer at all
  Errc code = Errc::unavailable;
  bool version_too_large = false;  // the server has not seen that resourceVersion yet
  Duration retry_after = {};       // as the server asked, at least
  std::string what;

  bool operator==(const Failure&) const = default;
};
// Of an answer with a Status, and of a connection that failed or a body that broke off.
[[nodiscard]] Failure failure_of(const ApiStatus& status);
[[nodiscard]] Failure failure_of(const Error& error);

// Whether the server decided against it (4xx, but not 408, 410 and 429): asking again soon is no
// use.
[[nodiscard]] bool is_refusal(const Failure& failure);

namespace reflect {

// Inputs. After an action that ends a request nothing of that request may come in any more.
struct Started {
  std::string resume_from;  // the resourceVersion of a complete cache, or ""
};
struct PageReceived {
  std::vector<std::string> items;  // their exact bytes
  std::string resource_version;
  std::string continue_token;
};
struct ListFailed {
  Failure failure;
};
struct WatchOpened {};
struct EventReceived {
  WatchEvent event;
};
struct WatchEnded {};  // the server closed it, in order
struct WatchFailed {   // it could not be opened, or broke
  Failure failure;
};
struct TimePassed {};
using Input = std::variant<Started, PageReceived, ListFailed, WatchOpened, EventReceived,
                           WatchEnded, WatchFailed, TimePassed>;

// Actions.
struct SendList {
  std::string resource_version;
  std::int64_t limit;  // 0: none
  std::string continue_token;
  bool operator==(const SendList&) const = default;
};
struct OpenWatch {  // with bookmarks
  std::string resource_version;
  std::int64_t timeout_seconds;
  bool operator==(const OpenWatch&) const = default;
};
struct CloseWatch {
  bool operator==(const CloseWatch&) const = default;
};
struct Replace {  // this is everything there is
  std::vector<std::string> items;
  std::string resource_version;
  bool operator==(const Replace&) const = default;
};
struct TakePage {  // these objects exist; they need not be all
  std::vector<std::string> items;
  bool first;  // of a list that begins
  bool operator==(const TakePage&) const = default;
};
struct EndList {  // the pages since the first one have all objects that exist
  std::string resource_version;
  bool operator==(const EndList&) const = default;
};
struct Apply {  // added, modified or deleted
  WatchEvent event;
  bool operator==(const Apply&) const = default;
};
struct Bookmark {  // nothing happened up to here
  std::string resource_version;
  bool operator==(const Bookmark&) const = default;
};
struct WaitUntil {  // the same as deadline(), said once
  MonoTime time;
  bool operator==(const WaitUntil&) const = default;
};
struct Warn {
  std::string what;
  bool operator==(const Warn&) const = default;
};
using Action = std::variant<SendList, OpenWatch, CloseWatch, Replace, TakePage, EndList, Apply,
                            Bookmark, WaitUntil, Warn>;
using Actions = std::vector<Action>;

}  // namespace reflect

class Reflector {
 public:
  enum class State : std::uint8_t { idle, listing, opening, watching, waiting };

  // `random` is borrowed.
  Reflector(const ReflectorConfig& config, Random& random);

  // Takes one input and returns what to do, in order. `now` must not run backwards. An input that
  // does not fit the state is the owner's mistake and stops the process.
  [[nodiscard]] reflect::Actions step(MonoTime now, reflect::Input input);

  // When to step(TimePassed) if nothing else comes first; MonoTime::max() when never.
  [[nodiscard]] MonoTime deadline() const { return deadline_; }
  [[nodiscard]] State state() const { return state_; }
  // How far it has seen; "" before the first complete list.
  [[nodiscard]] const std::string& resource_version() const { return seen_; }

 private:
  using Actions = reflect::Actions;

  void on(MonoTime now, const reflect::Started& started, Actions& actions);
  void on(MonoTime now, reflect::PageReceived&& page, Actions& actions);
  void on(MonoTime now, const reflect::ListFailed& failed, Actions& actions);
  void on(MonoTime now, const reflect::WatchOpened& opened, Actions& actions);
  void on(MonoTime now, reflect::EventReceived&& received, Actions& actions);
  void on(MonoTime now, const reflect::WatchEnded& ended, Actions& actions);
  void on(MonoTime now, const reflect::WatchFailed& failed, Actions& actions);
  void on(MonoTime now, const reflect::TimePassed& passed, Actions& actions);

  void keep(std::vector<std::string>&& items, Actions& actions);
  void list(Actions& actions);
  void list_all(Actions& actions);
  void send(std::string version, std::int64_t limit, std::string token, Actions& actions);
  void watch(MonoTime now, Actions& actions);
  void wait(MonoTime now, Duration at_least, bool then_list, Actions& actions);
  // Lists again after a pause that grows as long as that does not help.
  void wait_after(MonoTime now, const Failure& failure, Actions& actions);
  void pause(MonoTime until, bool then_list, Actions& actions);
  void recover(MonoTime now, const Failure& failure, Actions& actions);
  void drop_pages();

  ReflectorConfig config_;
  Random& random_;
  Backoff backoff_;
  Backoff list_backoff_;
  State state_ = State::idle;
  MonoTime deadline_ = MonoTime::max();
  bool list_next_ = true;      // what the waiting is for
  bool seen_is_gone_ = false;  // the server no longer, or not yet, knows `seen_`
  bool server_pages_ = false;  // it cut even a list that asked for any state into pages
  std::string seen_;

  // The list under way.
  std::string asked_version_;
  bool continued_ = false;
  std::vector<std::string> items_;
  std::size_t items_bytes_ = 0;
  std::string list_version_;

  // The watch under way.
  MonoTime watch_sent_at_{};
  bool watch_had_event_ = false;
};

}  // namespace holdfast::sync
