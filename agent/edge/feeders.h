// Keeps every scope up to date while the cloud can be reached: by a list-watch or, where the API
// server lets an object only be got by name, by a GET after each outage and whenever it is asked
// for again.
//
// Feeding stops when the link is offline and begins again, list first, when a rejoin admits the
// scope's turn: node, pods, configmaps and secrets, services, the rest.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/client/byte_pool.h"
#include "agent/client/list_watch.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

// The turns of a rejoin.
inline constexpr int turns = 5;
[[nodiscard]] int turn_of(const store::ScopeKey& key);

// Bytes that feeds hold of lists and watch events that are not complete yet.
struct HeldLimits {
  std::size_t bytes = 12UL << 20;   // of all feeds; more, if one list of the node needs it
  std::size_t foreign = 4UL << 20;  // of all feeds of owners other than the node
  std::size_t event = 3UL << 20;    // of one watch event: twice what etcd takes
};
inline constexpr HeldLimits held_limits;
// With so many bytes of one list at most, of which the node always has room for one.
[[nodiscard]] BytePoolLimits held_pool_limits(std::size_t scope_bytes);

class Feeders final : public ListWatchSource {
 public:
  Feeders(asio::any_io_executor executor, Scopes& scopes, Uplink& uplink, const Clock& clock,
          Random& random);

  // Feeds `scope` from now on, whenever the link allows it.
  void add(ScopePtr scope);
  // Under which credentials an owner's scopes are fetched; kept in memory only, and only while he
  // has scopes (so that CacheLimits bound them) and the API server has not answered them with 401.
  void remember(const std::string& owner, std::string authorization);

  // Lets scopes up to this turn list and watch while rejoining; -1: none.
  void admit(int turn);
  // The scopes of a turn that could be fetched.
  [[nodiscard]] std::vector<ScopePtr> of_turn(int turn) const;
  // The healthy scopes that show local versions: they wait for the cloud's list.
  [[nodiscard]] std::vector<ScopePtr> outdated() const;
  // Ends the list-watches of these scopes and begins them anew, with a list; or gets them anew.
  void list_again(const std::vector<ScopePtr>& scopes);
  // What a client was answered when it got the one object that the scope holds: its body. Errors:
  // corrupt (also a table, or metadata alone), exhausted; then the scope is as it was.
  [[nodiscard]] Status got(ScopePtr scope, std::string_view body);
  // A client has created the one object that a watched scope is there for, and was answered `body`:
  // the scope has it now, and not only once its watch tells of it. Whatever the scope has already
  // is left as it is.
  void created(ScopePtr scope, std::string_view body);
  // The same as got() for an answer that there is no such object; a scope whose kind is not known
  // takes no notice.
  void got_nothing(ScopePtr scope);
  // Waits until each of these scopes was listed after `since`, or turned out to be unhealthy: what
  // cannot be fetched must not keep all else from coming back. False at `deadline`.
  asio::awaitable<bool> wait_until_heard(std::vector<ScopePtr> scopes, MonoTime since,
                                         MonoTime deadline);
  // Those that were not heard of are unhealthy from now on, until their list comes.
  void give_up_waiting(const std::vector<ScopePtr>& scopes, MonoTime since);

  // Called whenever a scope becomes healthy or unhealthy, or for another reason.
  using OnHealth = std::function<void(const LocalScope& scope)>;
  void on_health(OnHealth callback) { on_health_ = std::move(callback); }

  void cancel();
  // Nothing of what was fed runs any more when it returns.
  asio::awaitable<void> join();

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;

  // What a list-watch reports of its scope.
  void note_failure(LocalScope& scope, ScopeHealth::Part part, const sync::Failure& failure);
  void note_success(LocalScope& scope, ScopeHealth::Part part);

  // Bytes that all feeds hold of what is not complete yet.
  [[nodiscard]] BytePool& held_bytes() { return held_bytes_; }

 private:
  // The scope was dropped. Credentials of an owner without any scope are forgotten.
  void stop_feeding(const LocalScope& scope);
  // Credentials that the API server has answered with 401.
  void forget_rejected();
  asio::awaitable<void> feed(ScopePtr scope);
  [[nodiscard]] asio::awaitable<void> online_feed(const ScopePtr& scope, MonoTime since);
  asio::awaitable<void> keep_by_get(ScopePtr scope, std::string authorization, MonoTime since);
  // One GET. Nothing when that settles it; otherwise why not, to be tried again.
  asio::awaitable<std::optional<sync::Failure>> get_object(ScopePtr scope,
                                                           std::string authorization);
  [[nodiscard]] bool may_feed(const LocalScope& scope) const;
  [[nodiscard]] bool has_credentials(const LocalScope& scope) const;

  asio::any_io_executor executor_;
  Scopes& scopes_;
  Uplink& uplink_;
  const Clock& clock_;
  Random& random_;
  int admitted_ = -1;
  std::set<ScopeNumber> restart_;  // they are listed, or got, anew
  BytePool held_bytes_;
  OnHealth on_health_ = [](const LocalScope&) {};
  std::map<std::string, std::string> authorizations_;
  loop::Tasks tasks_;
  // Of each scope: what feeds it now. A feed that is cancelled can't wait for it; join() does.
  std::map<ScopeNumber, std::shared_ptr<loop::Tasks>> online_;
};

}  // namespace holdfast::agent
