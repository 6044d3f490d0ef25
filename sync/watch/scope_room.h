// Which scopes may be opened, how many bytes they may hold, and which others make room for them, so
// that CacheLimits hold.
//
// Pure functions of facts about the scopes. The caller does what they answer, and may have to ask
// again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/time.h"
#include "sync/watch/cache_limits.h"

namespace holdfast::sync::watch {

// The bytes of all scopes in memory.
class ScopeBytes {
 public:
  // A scope of that owner counts for `after` bytes from now on. `before`: for how many it has
  // counted so far.
  void change(const std::string& owner, std::size_t before, std::size_t after);

  [[nodiscard]] std::size_t all() const { return all_; }
  [[nodiscard]] std::size_t of(std::string_view owner) const;
  [[nodiscard]] std::size_t foreign() const { return all_ - of(node_owner); }

 private:
  std::map<std::string, std::size_t, std::less<>> by_owner_;  // no zeros
  std::size_t all_ = 0;
};

// What a scope can hold.
enum class Extent : std::uint8_t { one_object, one_namespace, cluster };

struct ScopeFacts {
  std::string_view owner;
  Extent extent = Extent::cluster;
  bool is_watched = false;    // by a local client
  bool keeps_writes = false;  // shows writes that the API server does not have yet
  bool is_needed = false;     // by a pod of the node
  std::size_t bytes = 0;      // for which it counts in ScopeBytes
  std::size_t event_bytes = 0;
  MonoTime used_at = MonoTime::min();  // in this run; MonoTime::min(): not at all
  WallTime last_used{};                // as earlier runs have stored it

  [[nodiscard]] bool is_foreign() const { return owner != node_owner; }
};
using ScopeFactsTable = std::vector<ScopeFacts>;

// The next step to make room.
struct RoomStep {
  enum class Kind : std::uint8_t {
    none,    // there is room
    drop,    // drop `scope`
    forget,  // drop the events that the scopes of `owner` keep for watches that resume
    refuse,  // there is none, for the reason `why`
  };
  Kind kind = Kind::none;
  std::size_t scope = 0;   // its place in the table
  std::string owner = {};  // "": all owners
  std::string why = {};    // for people
};

// Before a scope of that owner is opened. After one drop there is room.
[[nodiscard]] RoomStep room_to_open(const ScopeFactsTable& scopes, std::string_view owner,
                                    const CacheLimits& limits);

// A change of a scope's content.
struct Growth {
  std::string owner;
  std::size_t objects = 0;       // afterwards
  std::size_t bytes = 0;         // of its objects, afterwards
  std::size_t bytes_before = 0;  // of its objects
  std::size_t event_bytes = 0;   // of its events
  std::size_t counted = 0;       // for which it counts in ScopeBytes so far
};

// Whether there is room for a scope's content without any step.
[[nodiscard]] bool has_room_for(const Growth& growth, const ScopeBytes& held,
                                const CacheLimits& limits);

// Before a scope's content changes, if there is no room for that: to be asked again after each
// step. `others` are all scopes but this one.
[[nodiscard]] RoomStep room_to_grow(const Growth& growth, const ScopeBytes& held,
                                    const ScopeFactsTable& others, const CacheLimits& limits);

// Whether the number of restored scopes, the last of them of that foreign owner, is within the
// limits.
[[nodiscard]] bool fits_by_number(const ScopeFactsTable& scopes, std::string_view owner,
                                  const CacheLimits& limits);

}  // namespace holdfast::sync::watch
