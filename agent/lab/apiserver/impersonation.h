// Impersonation: a caller who may do so acts as somebody else, as the Impersonate-* headers say
// (`kubectl --as`).

#pragma once

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// Whom the request is from: the caller, or who is impersonated. 403 if the caller may not
// impersonate the user, a group, the uid or an extra field; 400 without a user.
[[nodiscard]] Answer<Identity> acting_as(const Backend& backend, const http::Request& request,
                                         const Identity& caller);

}  // namespace holdfast::agent::lab
