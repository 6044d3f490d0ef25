// Applies a write that the edge agent accepts while the cloud is unreachable. The result has the
// answer for the client, the object for the cache and the request to send to the API server later.
// Pure.
//
// The queued request contains the whole new status instead of the client's patch, so that a later
// write can replace an earlier one. It names the uid, so that it cannot hit another object of the
// same name. A queued status never contains the spec, labels or taints of a pod or node: for these
// the API server's state always wins.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "platform/time.h"
#include "sync/autonomy/admit.h"
#include "sync/objects/request_info.h"
#include "sync/objects/version.h"
#include "sync/wire/status.h"

namespace holdfast::sync::autonomy {

// Makes the uid of an object that is created here from a random UUID. The API server gives the
// object another uid, so no queued request names a local uid. is_local_uid() recognises them.
[[nodiscard]] std::string local_uid(std::string_view random_uuid);
[[nodiscard]] bool is_local_uid(std::string_view uid);

// Whether a write's body, in JSON or protobuf, names a resourceVersion that this agent made up in a
// place where an API server would compare it: in the object itself, in a precondition or in a JSON
// patch.
[[nodiscard]] bool carries_local_version(std::string_view body);

// Whether a write is a dry run: by its query or, for a deletion, by the DeleteOptions in its body.
[[nodiscard]] bool is_dry_run(const objects::RequestInfo& request, std::string_view body);

struct LocalWrite {
  Admission admission = Admission::refuse;
  const objects::RequestInfo& request;
  std::string_view content_type;
  std::string_view body;
  bool queued = false;  // `body` is a queued request's body: a whole status, not a client's patch
  // The bodies of the statuses of this object that are queued. The result replaces them, so it
  // names the conditions that they name.
  std::span<const std::string> waiting = {};
  std::string_view grace_period_seconds = {};  // from the query of a DELETE
  std::string_view node_name;
  // The object as the cache has it, with kind and apiVersion; std::nullopt: it is not there.
  std::optional<std::string_view> current = {};
  objects::Version version = 0;  // the resourceVersion that the result gets
  WallTime now{};
  std::string_view new_uid = {};  // a local_uid(), used if an object is created
};

// A request to send to the API server later.
struct QueuedWrite {
  std::string verb;    // "PATCH"
  std::string target;  // the path
  std::string content_type;
  std::string body;
  std::string uid;  // of the object it is meant for; empty for creations and for objects that were
                    // created here
  // Replaces requests for the same object that were queued earlier.
  bool replaces_older = false;
  bool may_be_dropped = false;  // true for events: dropped when there is no room

  bool operator==(const QueuedWrite&) const = default;
};

struct LocalOutcome {
  enum class Change : std::uint8_t { none, put, remove };

  wire::ApiStatus refusal = {};  // the answer if `accepted` is false
  bool accepted = false;
  int status = 200;         // HTTP status of the answer
  std::string answer = {};  // the body for the client
  Change change = Change::none;
  std::string name = {};  // of the changed or kept object; so is `uid`
  std::string uid = {};
  std::string object = {};      // the new object for the cache, with kind and apiVersion
  bool only_heartbeat = false;  // only heartbeat times changed: not worth queueing
  // The status would end a pod only because the node reboots (reboot.h): the client is answered as
  // if it was applied, but nothing changes and nothing is queued, so that the kubelet runs the pod
  // again.
  bool kept_pod = false;
  // The request to send to the API server later. A registration that is refused here has one too,
  // in case the API server no longer has the node.
  std::optional<QueuedWrite> queued = {};
};

[[nodiscard]] LocalOutcome apply_local_write(const LocalWrite& write);

}  // namespace holdfast::sync::autonomy
