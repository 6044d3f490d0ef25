// Applies a write that the edge accepts while the cloud is away: what the client is told, what the
// cache holds from now on, and what must reach the cloud later. Pure.
//
// What is queued says the whole new status, not the client's patch, so that later writes can take
// an earlier one's place, and it names the uid, so that it can't hit another object of that name.
// The cloud's spec, labels and taints always win: they are never part of what is queued.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/time.h"
#include "sync/api/request_info.h"
#include "sync/api/status.h"
#include "sync/api/version.h"
#include "sync/autonomy/admit.h"

namespace holdfast::sync {

// A uid for what is created here, made from a random one. It is recognised at the border, as local
// versions are: the cloud gives the object another one, so nothing that is queued names it.
[[nodiscard]] std::string local_uid(std::string_view random_uuid);
[[nodiscard]] bool is_local_uid(std::string_view uid);

// Whether a write's body names a version that we made up, where an API server would compare it: as
// the object's own, as a precondition or in a JSON patch. In either encoding.
[[nodiscard]] bool carries_local_version(std::string_view body);

// Whether a write is only tried: by its query or, of a deletion, by the DeleteOptions in its body.
[[nodiscard]] bool is_dry_run(const RequestInfo& request, std::string_view body);

struct LocalWrite {
  Admission admission = Admission::refuse;
  const RequestInfo& request;
  std::string_view content_type;
  std::string_view body;
  bool queued = false;  // `body` is what was queued for the cloud: the whole status, no patch
  std::string_view grace_period_seconds = {};  // of a delete's query
  std::string_view node_name;
  // The object as the cache has it, with kind and apiVersion; nothing: it is not there.
  std::optional<std::string_view> current = {};
  Version version = 0;  // for the result
  WallTime now{};
  std::string_view new_uid = {};  // for what is created: a local_uid()
};

// A request that the cloud is to be sent later.
struct QueuedWrite {
  std::string verb;    // "PATCH"
  std::string target;  // path
  std::string content_type;
  std::string body;
  std::string uid;  // of the object it is meant for; empty for creations and for
                    // what was created here
  bool replaces_older = false;
  bool may_be_dropped = false;  // events, when there is no room

  bool operator==(const QueuedWrite&) const = default;
};

struct LocalOutcome {
  enum class Change : std::uint8_t { none, put, remove };

  ApiStatus refusal = {};  // when `accepted` is false
  bool accepted = false;
  int status = 200;
  std::string answer = {};  // the body for the client
  Change change = Change::none;
  std::string name = {};  // of the object that changed
  std::string uid = {};
  std::string object = {};      // as the cache is to have it, with kind and apiVersion
  bool only_heartbeat = false;  // nothing but the times of heartbeats changed: not worth queueing
  // What the cloud is to be sent, also of a registration that was refused here: it counts in case
  // that the cloud has no such node any more.
  std::optional<QueuedWrite> queued = {};
};

[[nodiscard]] LocalOutcome apply_local_write(const LocalWrite& write);

}  // namespace holdfast::sync
