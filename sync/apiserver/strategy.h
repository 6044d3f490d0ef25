// What the server does to an object on its way into the store: identity, versions, status, time.
//
// Objects are stored objects (shaped, defaulted). Nothing here is stored or validated; the caller
// does both.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/random.h"
#include "platform/time.h"
#include "sync/apiserver/answer.h"
#include "sync/apiserver/resources.h"

namespace holdfast::sync {

// Who an object is by its URL.
struct Target {
  std::string_view name_space;
  std::string_view name;  // empty for a create
};

// A new object: namespace from the URL, name generated if wanted, uid, creation time, generation,
// a fresh status. Refuses a namespace that differs from the URL's and a resourceVersion.
[[nodiscard]] Answer<boost::json::object> prepare_create(const Resource& resource,
                                                         boost::json::object object,
                                                         const Target& target, WallTime now,
                                                         Random& random);

enum class Part : std::uint8_t { object, status };

// A changed object: what clients may not change is taken from `old`; `part` says whether spec or
// status is theirs. Refuses another name, namespace or uid, and an older resourceVersion.
[[nodiscard]] Answer<boost::json::object> prepare_update(const Resource& resource,
                                                         boost::json::object object,
                                                         const boost::json::object& old,
                                                         const Target& target, Part part);

// Whether an update must name the version that it is based on.
[[nodiscard]] bool needs_version(const Resource& resource);
// Whether an update of something that is not there creates it.
[[nodiscard]] bool creates_on_update(const Resource& resource);
// Whether DELETE answers with the object rather than a Status.
[[nodiscard]] bool returns_deleted(const Resource& resource);

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds;
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
  std::string propagation;  // "", "Background", "Foreground", "Orphan"
  bool dry_run = false;
};

// Refuses unless the preconditions hold.
[[nodiscard]] Answer<bool> check_preconditions(const Resource& resource,
                                               const boost::json::object& object,
                                               const DeleteOptions& options);

// What a deletion comes to.
struct Deletion {
  std::optional<boost::json::object> marked;  // to be stored first: with deletionTimestamp
  bool remove = false;                        // and then, or at once, to be removed
};
[[nodiscard]] Deletion plan_deletion(const Resource& resource, const boost::json::object& object,
                                     const DeleteOptions& options, WallTime now);

// Whether an object that was just stored is to be removed: being deleted, its time is up and no
// finalizer is left.
[[nodiscard]] bool is_ready_to_go(const Resource& resource, const boost::json::object& object);

// `name` plus five characters of upstream's alphabet.
[[nodiscard]] std::string generate_name(std::string_view base, Random& random);

}  // namespace holdfast::sync
