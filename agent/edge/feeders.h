// Keeps every scope up to date while the cloud can be reached: one list-watch per scope.
//
// Feeding stops when the link is offline and begins again, list first, when a rejoin admits the
// scope's turn: node, pods, configmaps and secrets, services, the rest.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/client/list_watch.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

// The turns of a rejoin.
inline constexpr int turns = 5;
[[nodiscard]] int turn_of(const store::ScopeKey& key);

class Feeders final : public ListWatchSource {
 public:
  Feeders(asio::any_io_executor executor, Scopes& scopes, Uplink& uplink, const Clock& clock,
          Random& random);

  // Feeds `scope` from now on, whenever the link allows it.
  void add(ScopePtr scope);
  // Ends that: the scope was dropped. Credentials of an owner without any scope are forgotten.
  void stop_feeding(const LocalScope& scope);
  // Under which credentials an owner's scopes are fetched; kept in memory only, and only while he
  // has scopes.
  void remember(const std::string& owner, std::string authorization);

  // Lets scopes up to this turn list and watch while rejoining; -1: none.
  void admit(int turn);
  // Waits until all scopes of a turn were listed after `since`, or the cloud refused to list them:
  // what is forbidden must not keep all else from coming back. False at `deadline`.
  asio::awaitable<bool> wait_for_turn(int turn, MonoTime since, MonoTime deadline);

  // The scopes that show local versions and could be listed: they wait for the cloud's list.
  [[nodiscard]] std::vector<ScopePtr> outdated() const;
  // Lists these again. False at `deadline`.
  asio::awaitable<bool> list_again(std::vector<ScopePtr> scopes, MonoTime deadline);

  void cancel();
  // Nothing of what was fed runs any more when it returns.
  asio::awaitable<void> join();

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;

 private:
  asio::awaitable<void> feed(ScopePtr scope);
  [[nodiscard]] bool may_feed(const LocalScope& scope) const;
  asio::awaitable<bool> wait_until_heard(ScopePtr scope, MonoTime since, MonoTime deadline);
  [[nodiscard]] bool has_credentials(const LocalScope& scope) const;

  asio::any_io_executor executor_;
  Scopes& scopes_;
  Uplink& uplink_;
  const Clock& clock_;
  Random& random_;
  int admitted_ = -1;
  std::set<const LocalScope*> restart_;  // their list-watch begins anew
  std::map<std::string, std::string> authorizations_;
  loop::Tasks tasks_;
  // Of each scope: its list-watch. A feed that is cancelled can't wait for it; join() does.
  std::map<const LocalScope*, std::shared_ptr<loop::Tasks>> online_;
};

}  // namespace holdfast::agent
