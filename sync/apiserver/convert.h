// Between the versions that a resource is served in and the one it is stored in.
//
// Most versions differ in apiVersion alone. Events of events.k8s.io are stored as core events, so
// that both see the same objects.

#pragma once

#include <boost/json/object.hpp>

#include "sync/apiserver/resources.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

// Where objects of `resource` are kept.
[[nodiscard]] const Resource& stored_resource(const Resource& resource);

// The schema of a version's kind, and of what is stored.
[[nodiscard]] const StructType& type_of(const Resource& resource, const ServedVersion& version);
[[nodiscard]] const StructType& stored_type(const Resource& resource);

// Whether objects are stored as they are served.
[[nodiscard]] bool is_stored_version(const Resource& resource, const ServedVersion& version);

// Of shaped objects, with kind and apiVersion.
[[nodiscard]] boost::json::object to_stored(const Resource& resource, const ServedVersion& version,
                                            const boost::json::object& object);
[[nodiscard]] boost::json::object from_stored(const Resource& resource,
                                              const ServedVersion& version,
                                              const boost::json::object& object);

}  // namespace holdfast::sync
