// Prepares objects for storage: identity, metadata, versions, status, deletion.
//
// Objects are in stored form (shaped, with defaults). The caller validates and stores the results.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/lab/rules/answer.h"
#include "platform/random.h"
#include "platform/time.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

// The namespace and name in the URL.
struct Target {
  std::string_view name_space;
  std::string_view name;  // empty for a create
};

// Prepares a new object: namespace from the URL, a generated name if requested, uid, creation time,
// generation and an initial status. Refuses a namespace that differs from the URL's, and a
// resourceVersion.
[[nodiscard]] Answer<boost::json::object> prepare_create(const sync::printing::Resource& resource,
                                                         boost::json::object object,
                                                         const Target& target, WallTime now,
                                                         Random& random);

enum class Part : std::uint8_t { object, status };

// Prepares a changed object: fields that clients may not change are taken from `old`. `part` says
// whether the client writes the object or its status. Refuses another name, namespace or uid, and
// an outdated resourceVersion.
[[nodiscard]] Answer<boost::json::object> prepare_update(const sync::printing::Resource& resource,
                                                         boost::json::object object,
                                                         const boost::json::object& old,
                                                         const Target& target, Part part);

// Whether an update must have a resourceVersion.
[[nodiscard]] bool needs_version(const sync::printing::Resource& resource);
// Whether an update of a missing object creates it.
[[nodiscard]] bool creates_on_update(const sync::printing::Resource& resource);
// Whether DELETE returns the object instead of a Status.
[[nodiscard]] bool returns_deleted(const sync::printing::Resource& resource);

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds;
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
  std::string propagation;  // "", "Background", "Foreground", "Orphan"
  bool dry_run = false;
};

// Refuses if the preconditions do not hold.
[[nodiscard]] Answer<bool> check_preconditions(const sync::printing::Resource& resource,
                                               const boost::json::object& object,
                                               const DeleteOptions& options);

// The effect of a deletion.
struct Deletion {
  std::optional<boost::json::object> marked;  // store this first: it has a deletionTimestamp
  bool remove = false;                        // then remove the object
};
[[nodiscard]] Deletion plan_deletion(const sync::printing::Resource& resource,
                                     const boost::json::object& object,
                                     const DeleteOptions& options, WallTime now);

// Whether an object that was just stored must be removed: it is being deleted, its grace period is
// 0 and it has no finalizers.
[[nodiscard]] bool is_deletable(const sync::printing::Resource& resource,
                                const boost::json::object& object);

// `base`, shortened if needed, plus five characters of upstream's alphabet.
[[nodiscard]] std::string generate_name(std::string_view base, Random& random);

}  // namespace holdfast::agent::lab
