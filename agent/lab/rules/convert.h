// Converts objects between the versions in which a resource is served and the version in which it
// is stored.
//
// Most versions differ only in apiVersion. Events of events.k8s.io are stored as core events, so
// that clients of both groups see the same objects.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/rules/merge_type.h"
#include "sync/model/schema.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

// The resource as which objects of `resource` are stored.
[[nodiscard]] const sync::printing::Resource& stored_resource(
    const sync::printing::Resource& resource);
void stored_resource(const sync::printing::Resource&& resource) = delete;

// The schema of a served version, and of the stored version.
[[nodiscard]] const sync::StructType& type_of(const sync::printing::Resource& resource,
                                              const sync::printing::ServedVersion& version);
[[nodiscard]] const sync::StructType& stored_type(const sync::printing::Resource& resource);

// Whether objects are stored in the version in which they are served.
[[nodiscard]] bool is_stored_version(const sync::printing::Resource& resource,
                                     const sync::printing::ServedVersion& version);

// How server-side apply merges objects of a served version, or stored ones.
[[nodiscard]] MergeType merge_type_of(const sync::printing::Resource& resource,
                                      const sync::printing::ServedVersion& version);
[[nodiscard]] MergeType merge_type_of(const sync::printing::Resource& resource);
// An object in which no field is set.
[[nodiscard]] boost::json::object zero_of(const sync::printing::Resource& resource,
                                          const sync::printing::ServedVersion& version);

// Convert shaped objects that have kind and apiVersion.
[[nodiscard]] boost::json::object to_stored(const sync::printing::Resource& resource,
                                            const sync::printing::ServedVersion& version,
                                            const boost::json::object& object);
[[nodiscard]] boost::json::object from_stored(const sync::printing::Resource& resource,
                                              const sync::printing::ServedVersion& version,
                                              const boost::json::object& object);

}  // namespace holdfast::agent::lab
