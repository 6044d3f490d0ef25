// Keeps one scope up to date with an API server: lists it, watches it, and lists it again where
// that is necessary. Pure: the Reflector decides; its owner sends the requests, passes in the
// answers and waits until deadline().
//
// It behaves as client-go's reflector, with two differences that save uplink traffic. A watch that
// broke or was very short is opened again at the last version seen, and a list follows only if one
// after the other brings nothing. A watch that outlives its timeout is treated as dead and closed.
//
// By default the owner gets a list only as a whole: Replace follows the last page; if the list
// fails, the owner gets nothing. With ReflectorConfig::by_page each page becomes a TakePage at
// once, so that nothing must hold the whole list; EndList follows the last page, and is missing if
// the list failed.

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
#include "sync/pacing/backoff.h"
#include "sync/pacing/monotonic.h"
#include "sync/wire/frames.h"
#include "sync/wire/status.h"

namespace holdfast::sync::watch {

struct ReflectorConfig {
  std::string first_list_version = "0";  // "0": any state; "": the newest
  // In objects; for lists that the server does not answer from its watch cache. A quarter of it
  // after each page that could not be received, and doubled up to it with each complete list, and
  // with each one that took so long that the server has discarded its snapshot.
  std::int64_t page_size = 500;
  // If not 0, the first page asks for `first_page` objects, and each one after it for as many as
  // probably have this many bytes: at least 1, at most `page_size`, and at most four times as many
  // as the page before.
  std::size_t page_bytes = 0;
  std::int64_t first_page = 50;
  // Each watch asks for 1 to 2 times this.
  Duration watch_timeout_min = std::chrono::minutes(5);
  // Time after a watch's timeout until it is treated as dead.
  Duration watch_overtime = std::chrono::seconds(30);
  // A shorter watch without events is reported with Warn.
  Duration short_watch = std::chrono::seconds(1);
  // A watch brings nothing if a server that can be reached does not open it, if it ends or breaks
  // without an event within `short_watch`, or if it breaks in the middle of its first event. After
  // so many of them in a row, and not before so much time has passed since the first, the watch has
  // stalled: that is reported, and a list follows, unless the server answers 429.
  int stalled_watches = 5;
  Duration stalled_time = std::chrono::seconds(30);
  std::size_t list_bytes = 256UL << 20;  // limit for all pages of a list together
  std::size_t list_items = 10'000'000;   // limit for all pages of a list together, in objects
  // TakePage and EndList instead of Replace; every list is asked for in pages.
  bool by_page = false;
  pacing::BackoffConfig backoff = {};
  // Used instead of `backoff` after a failed list, and after a failed watch that must be followed
  // by a list (unless its version is gone). So a scope that stays broken is asked for less and less
  // often, while a watch that breaks now and then is opened again soon. Without it, `backoff` is
  // used.
  std::optional<pacing::BackoffConfig> list_backoff = {};
  // Shortest pause after is_refusal(); needs list_backoff. A refusal after a watch was granted may
  // pass soon, because an API server that starts may refuse what it allows a moment later: then the
  // pause begins with `refused_pause_first` and doubles up to `refused_pause`.
  Duration refused_pause = {};
  Duration refused_pause_first = std::chrono::seconds(30);
  bool granted = false;  // a watch was granted before this reflector began
  // Pauses after a list that was too large for its owner: reading it again costs as much as before
  // and is probably useless. See pause_after_too_large().
  struct TooLarge {
    Duration first{};  // zero: the same pause as after any other failure
    Duration most = std::chrono::hours(6);
    // Lists that were too large before this reflector began, since a list and a watch were granted.
    int before = 0;
  };
  TooLarge too_large = {};
};

// The pause after the n-th list in a row that was too large, n from 1 on: `first`, doubled each
// time up to `most`. A reflector adds up to a quarter of it by chance.
[[nodiscard]] Duration pause_after_too_large(const ReflectorConfig::TooLarge& config, int n);

// Why a request failed.
struct Failure {
  int http_status = 0;  // 0: there was no answer
  Errc code = Errc::unavailable;
  bool version_too_large = false;  // the server has not seen that resourceVersion yet
  bool list_too_large = false;     // all objects together exceed a limit of the owner
  Duration retry_after = {};       // pause that the server asked for
  std::string what;

  bool operator==(const Failure&) const = default;
};
// The longest pause that a server may ask for in a Status.
inline constexpr Duration retry_after_max = std::chrono::minutes(1);

// The Failure for an answer with a Status, and for a broken connection or body.
[[nodiscard]] Failure failure_of(const wire::ApiStatus& status);
[[nodiscard]] Failure failure_of(const Error& error);

// Whether the server refused the request (4xx except 408, 410 and 429), so that repeating it soon
// is useless.
[[nodiscard]] bool is_refusal(const Failure& failure);

namespace reflect {

// Inputs. After an action that ends a request, the owner must not pass in anything more of that
// request.
struct Started {
  std::string resume_from;  // the resourceVersion of a complete cache, or ""
  // If it begins with a list, that is not sent earlier.
  MonoTime list_due = MonoTime::min();
};
struct PageReceived {
  std::vector<std::string> items;  // in the form they arrived in, byte by byte
  std::string resource_version;
  std::string continue_token;
};
struct ListFailed {
  Failure failure;
  // A smaller page may be received. It is asked for after a pause, or at once if this one was above
  // a limit of the owner (exhausted) and the page before was not.
  bool was_too_much = false;
};
struct WatchOpened {};
struct EventReceived {
  wire::WatchEvent event;
};
struct WatchEnded {};  // the server closed the watch normally
struct WatchFailed {   // the watch could not be opened, or it broke
  Failure failure;
  bool in_event = false;  // it broke in the middle of an event
};
// deadline() has passed.
struct TimePassed {};
using Input = std::variant<Started, PageReceived, ListFailed, WatchOpened, EventReceived,
                           WatchEnded, WatchFailed, TimePassed>;

// Actions for the owner.
struct SendList {
  std::string resource_version;
  std::int64_t limit;  // number of objects; 0: no limit
  std::string continue_token;
  // Any state that is at least as new as the version (resourceVersionMatch=NotOlderThan). Without
  // it, a server takes a version with a limit as Exact: it answers with the state of that version,
  // and so never gets over a watch whose version is gone.
  bool not_older = false;
  bool operator==(const SendList&) const = default;
};
struct OpenWatch {  // a watch with bookmarks
  std::string resource_version;
  std::int64_t timeout_seconds;
  bool operator==(const OpenWatch&) const = default;
};
struct CloseWatch {
  bool operator==(const CloseWatch&) const = default;
};
struct Replace {  // these are all objects that exist
  std::vector<std::string> items;
  std::string resource_version;
  bool operator==(const Replace&) const = default;
};
struct TakePage {  // these objects exist; there may be others
  std::vector<std::string> items;
  bool first;  // this is the first page of a list
  bool operator==(const TakePage&) const = default;
};
struct EndList {  // all objects that exist were in the pages since the first one
  std::string resource_version;
  bool operator==(const EndList&) const = default;
};
struct Apply {  // an object was added, modified or deleted
  wire::WatchEvent event;
  bool operator==(const Apply&) const = default;
};
struct Bookmark {  // there are no more changes up to this version
  std::string resource_version;
  bool operator==(const Bookmark&) const = default;
};
struct WaitUntil {  // reports a new deadline() once
  MonoTime time;
  bool operator==(const WaitUntil&) const = default;
};
struct Warn {
  std::string what;
  bool operator==(const Warn&) const = default;
};
struct ReportStall {  // the watch has stalled: changes are missed; see stalled_watches
  Failure failure;    // of the last one
  bool operator==(const ReportStall&) const = default;
};
using Action = std::variant<SendList, OpenWatch, CloseWatch, Replace, TakePage, EndList, Apply,
                            Bookmark, WaitUntil, Warn, ReportStall>;
using Actions = std::vector<Action>;

}  // namespace reflect

class Reflector {
 public:
  enum class State : std::uint8_t { idle, listing, opening, watching, waiting };

  // `random` must outlive the Reflector.
  Reflector(const ReflectorConfig& config, Random& random);

  // Takes one input and returns what to do, in order. `now` must not run backwards. An input that
  // does not fit the state is an error of the owner and stops the process.
  [[nodiscard]] reflect::Actions step(MonoTime now, reflect::Input input);

  // When to call step(TimePassed) if no other input comes first; MonoTime::max(): never.
  [[nodiscard]] MonoTime deadline() const { return deadline_; }
  [[nodiscard]] State state() const { return state_; }
  // The last version seen; "" before the first complete list.
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

  // A page could not be received lately.
  [[nodiscard]] bool needs_small_pages() const { return page_size_ < config_.page_size; }
  // Adds a page to the list under way, or passes it on with by_page.
  void keep(std::vector<std::string>&& items, Actions& actions);
  void list(Actions& actions);
  // Lists everything in one page, without a limit.
  void list_all(Actions& actions);
  void send(std::string version, std::int64_t limit, std::string token, Actions& actions);
  void watch(MonoTime now, Actions& actions);
  void wait(MonoTime now, Duration at_least, bool then_list, Actions& actions);
  // Waits before the next list; the pause grows with each failure.
  void wait_after(MonoTime now, const Failure& failure, Actions& actions);
  [[nodiscard]] Duration pause_after_refusal();
  void pause(MonoTime until, bool then_list, Actions& actions);
  // Selects what follows a failed watch: another watch or a list.
  void recover(MonoTime now, const Failure& failure, bool in_event, Actions& actions);
  // Selects what follows a watch that may continue, and counts it if it has brought nothing.
  void watch_later(MonoTime now, const Failure& failure, bool in_event, Actions& actions);
  // Whether the watch in progress, which has failed, has shown nothing of what changes.
  [[nodiscard]] bool has_brought_nothing(MonoTime now, const Failure& failure, bool in_event) const;
  // How long the watch in progress has been open.
  [[nodiscard]] Duration open_for(MonoTime now) const;
  // Chooses the size of the next page by what has arrived.
  void fit_page(std::size_t objects, std::size_t bytes);
  // Whether a smaller page is asked for at once; then it was.
  [[nodiscard]] bool ask_for_less(const reflect::ListFailed& failed, Actions& actions);
  void drop_pages();

  pacing::Monotonic monotonic_;
  ReflectorConfig config_;
  Random& random_;
  pacing::Backoff backoff_;
  pacing::Backoff list_backoff_;
  std::int64_t page_size_;
  State state_ = State::idle;
  MonoTime deadline_ = MonoTime::max();
  bool list_next_ = true;      // whether a list or a watch follows the pause
  bool seen_is_gone_ = false;  // the server no longer, or not yet, has `seen_`
  bool server_pages_ = false;  // the server pages even lists with resourceVersion 0
  bool granted_ = false;       // a watch was granted before
  int refusals_ = 0;           // since then
  int too_large_ = 0;          // lists that were too large, since then
  std::string seen_;           // last resourceVersion seen

  // State of the list in progress.
  std::string asked_version_;
  bool asked_all_ = false;  // list_all()
  bool continued_ = false;
  bool asked_less_ = false;  // a smaller page was asked for at once
  std::string asked_token_;
  std::vector<std::string> items_;
  std::size_t items_bytes_ = 0;
  std::string list_version_;

  // State of the watch in progress.
  MonoTime watch_sent_at_{};
  MonoTime watch_opened_at_{};
  bool watch_had_event_ = false;

  // Watches in a row that have brought nothing, and when the first of them failed.
  int barren_ = 0;
  MonoTime barren_since_{};
};

}  // namespace holdfast::sync::watch
