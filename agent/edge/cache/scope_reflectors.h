// Keeps every scope up to date while the cloud is reachable: by a list-watch or, for objects that
// the API server lets a caller only get by name, by a GET after each outage and whenever a client
// requests the object.
//
// This stops when the link goes offline, and starts again during a rejoin. A watch continues where
// it was if sync::watch::Resumption allows it, and all these watches are opened at once. A scope
// that must be listed, or its object got, waits for its turn: node, pods, configmaps and secrets,
// services, the rest.
//
// Threading: the loop's thread only.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/client/byte_pool.h"
#include "agent/client/list_watch.h"
#include "agent/edge/cache/scope_content.h"
#include "agent/edge/forward/uplink.h"
#include "platform/loop/tasks.h"
#include "sync/autonomy/answered_state.h"
#include "sync/watch/resume.h"

namespace holdfast::agent {

// The turns of a rejoin, 0 to turns - 1, in which scopes are listed.
inline constexpr int turns = 5;
[[nodiscard]] int turn_of(const store::ScopeKey& key);

// Limits on the bytes of lists and watch events that are not completely received yet.
struct ReceiveLimits {
  std::size_t bytes = 12UL << 20;   // of all scopes; more if one list of the node needs it
  std::size_t foreign = 4UL << 20;  // of all scopes of foreign owners
  std::size_t event = 3UL << 20;    // of one watch event: twice etcd's limit
  std::size_t page = 1UL << 20;     // of a page of a list that is kept on disk, roughly
};
inline constexpr ReceiveLimits receive_limits;
// The limits for lists of at most `scope_bytes` bytes. The node always has room for one such list.
[[nodiscard]] BytePoolLimits receive_pool_limits(std::size_t scope_bytes);

class ScopeReflectors final : public ListWatchSource {
 public:
  // Called whenever a scope becomes healthy or unhealthy, or its fault changes.
  using OnHealth = std::function<void(const LocalScope& scope)>;

  // All references are borrowed.
  ScopeReflectors(asio::any_io_executor executor, ScopeTable& table, ScopeContent& content,
                  Uplink& uplink, OnHealth on_health, const Clock& clock, Random& random);

  // Keeps all scopes of the table up to date, whenever the link allows it, from when they are added
  // until they are removed. Runs until cancelled.
  asio::awaitable<void> feed_all();
  // Stores the credentials with which an owner's scopes are fetched. They are kept in memory only,
  // and only while the owner has scopes (so sync::watch::CacheLimits bound them) and the API server
  // has not answered them with 401.
  void set_credentials(const std::string& owner, std::string authorization);

  // A rejoin is about to bring the scopes up to date. `shown` is the newest resourceVersion that
  // the API server has shown since the outage; 0: none, so that all scopes are listed. Lets the
  // scopes watch, those of the first turns first, but not list yet.
  asio::awaitable<void> begin_turns(sync::objects::Version shown);
  // While rejoining: lets the scopes of all turns up to `turn` list as well.
  void admit(int turn);
  // The rejoin has ended.
  void end_turns();
  // Returns once a list of the scope may be sent: at once, except during a rejoin, and while a
  // client is getting a list that the scope has never had.
  asio::awaitable<void> wait_for_turn(ScopePtr scope);
  // The scopes of a turn for which a rejoin waits: all whose credentials are known, except those
  // that will probably not be listed now: refused before, too large not long ago, or optional.
  [[nodiscard]] std::vector<ScopePtr> awaited_in(int turn) const;
  // The healthy scopes that show local versions and therefore need a list from the cloud, or
  // settle().
  [[nodiscard]] std::vector<ScopePtr> with_local_versions() const;
  // Lets a scope that shows local versions return to the API server's without a list, if
  // WatchCache::settle() allows that with what the API server has answered to the writes. Its watch
  // goes on, from the last version that the scope has applied if it has missed something since.
  // Before its turn, a scope with a write that was not sent yet is left as it is, and its watch may
  // begin nevertheless; settle it again before the turns end.
  void settle(const ScopePtr& scope, const sync::autonomy::LastAnswerOf& last_answer);
  // Whether the scope is to be watched or listed again, or got, and has no answer yet.
  [[nodiscard]] bool is_restarting(const LocalScope& scope) const {
    const auto feed = feeds_.find(scope.number());
    return feed != feeds_.end() && feed->second.is_restarting;
  }
  // Restarts the list-watches of these scopes with a list, or gets their objects again.
  void list_again(const std::vector<ScopePtr>& scopes);
  // The scope has just received a list and keeps it in memory again: its watch continues there, and
  // later lists do not come in pages.
  void list_in_memory(const ScopePtr& scope);
  // The API server's data was replaced: lists all scopes again, now or when the link allows it.
  void list_all_again();
  // The API server has granted a client the list of a scope that it refused before, or has answered
  // with one that fits where it was too large before. Lists the scope again, but not if its watch
  // was refused, or its list too large, less than a minute ago: a client that lists often would
  // else cause a list each time.
  void list_granted(const ScopePtr& scope);
  // Waits until the scope shows what the API server had at `asked` or later, and lists it for that
  // if needed. Callers who wait together share a list. Returns false at `deadline`, or if the scope
  // cannot be listed.
  asio::awaitable<bool> make_current(ScopePtr scope, MonoTime asked, MonoTime deadline);
  // Takes over `body`, the answer to a client's GET of the one object that the scope holds. Errors:
  // corrupt (also a Table or metadata alone), exhausted; then the scope is unchanged.
  [[nodiscard]] Status store_object(ScopePtr scope, std::string_view body);
  // Takes over `body`, the answer to a client that created the one object of a watched scope,
  // without waiting for the watch event. An object that the scope already has stays as it is.
  void created(ScopePtr scope, std::string_view body);
  // Takes over a 404 answer to a GET of the scope's one object. Ignored if the kind of the scope is
  // not known.
  void store_absence(ScopePtr scope);
  // Waits until each of these scopes was refreshed after `since` or became unhealthy: a scope that
  // cannot be fetched must not delay the others. Returns false at `deadline`.
  asio::awaitable<bool> wait_until_refreshed(std::vector<ScopePtr> scopes, MonoTime since,
                                             MonoTime deadline);
  // Marks those scopes unhealthy for which wait_until_refreshed() would still wait; a complete
  // list, or a watch that continues, makes them healthy again.
  void give_up_waiting(const std::vector<ScopePtr>& scopes, MonoTime since);

  // Cancels all list-watches and GETs.
  void cancel();
  // Waits until no task of this runs any more. Call it after cancel().
  asio::awaitable<void> join();

  // Implements ListWatchSource: sends through the uplink.
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;

  // Called by the list-watch of a scope: a list begins; a watch was granted; a list or watch failed
  // or worked.
  void note_list_begins(LocalScope& scope);
  void note_watch(LocalScope& scope);
  void note_failure(LocalScope& scope, ScopeHealth::Part part, const sync::watch::Failure& failure);
  void note_success(LocalScope& scope, ScopeHealth::Part part);

  // The pool that counts the bytes of what is not completely received yet.
  [[nodiscard]] BytePool& receive_pool() { return receive_pool_; }

 private:
  // Forgets the credentials of owners without scopes.
  void forget_owners();
  // Forgets the credentials that the API server has answered with 401.
  void forget_rejected();
  asio::awaitable<void> run_reflector(ScopePtr scope);
  // `resume_from`, `list_due`: see ListWatchTarget.
  [[nodiscard]] asio::awaitable<void> reflect_while_online(const ScopePtr& scope, MonoTime since,
                                                           std::string resume_from,
                                                           MonoTime list_due);
  asio::awaitable<void> refresh_by_get(ScopePtr scope, std::string authorization, MonoTime since);
  // Sends one GET. Returns nothing if it was answered with the object or 404; otherwise the
  // failure, to be retried.
  asio::awaitable<std::optional<sync::watch::Failure>> get_object(ScopePtr scope,
                                                                  std::string authorization);
  asio::awaitable<Result<http::Response>> send_within(ApiRequest request, bool streamed,
                                                      Duration limit);
  [[nodiscard]] bool may_fetch(const LocalScope& scope) const;
  [[nodiscard]] bool has_credentials(const LocalScope& scope) const;

  // How a scope is fed anew: by a watch that continues, or by a list or GET.
  enum class Restart : std::uint8_t { watch, list };

  // How one scope is fed.
  struct Feed {
    std::optional<Restart> restart;  // it is to be fed anew
    bool is_restarting = false;      // the same, until it has an answer
    bool is_unsettled = false;       // it shows a write which was not sent yet
    bool is_renewed = false;         // listed again for make_current(); the list has not begun yet
    // The tasks that feed it now. A task cannot wait for its own end; join() does.
    std::shared_ptr<loop::Tasks> online = {};
  };
  // Null if the scope is not fed yet, or not any more.
  [[nodiscard]] Feed* feed_of(const LocalScope& scope);
  // Whether the scope is about to be fed anew.
  [[nodiscard]] bool restarts(const LocalScope& scope);

  // Ends the scope's feed and begins another one.
  void restart(const LocalScope& scope, Restart how);
  // The scope's feed has an answer.
  void note_answer(const LocalScope& scope);
  [[nodiscard]] bool was_refreshed(const LocalScope& scope, MonoTime since) const;
  // What speaks against continuing the scope's watch.
  [[nodiscard]] static sync::watch::Doubt doubt_of(const LocalScope& scope);
  // What a task that feeds the scope begins with: the version at which its watch continues, or ""
  // for a list.
  [[nodiscard]] std::string resume_from(const LocalScope& scope, std::optional<Restart> restart);

  asio::any_io_executor executor_;
  ScopeTable& table_;
  ScopeContent& content_;
  Uplink& uplink_;
  const Clock& clock_;
  Random& random_;
  // During a rejoin, the last turn whose scopes may watch, and whose scopes may list; -1: none.
  int watching_ = -1;
  int listing_ = -1;
  MonoTime turns_began_ = MonoTime::min();  // of the last rejoin
  sync::watch::Resumption resumption_;
  BytePool receive_pool_;
  OnHealth on_health_;
  std::map<std::string, std::string> authorizations_;
  loop::Tasks tasks_;
  std::map<ScopeNumber, Feed> feeds_;
};

}  // namespace holdfast::agent
