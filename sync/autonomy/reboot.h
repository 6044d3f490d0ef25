// Recognises statuses by which a kubelet ends a pod only because its node reboots.
//
// A kubelet that shuts down in an orderly way marks its pods as ended, and one that starts refuses
// pods whose device plug-ins have not registered yet. Controllers replace such pods, but not while
// the API server is unreachable: then a pod that has ended is lost to the node until the cloud is
// back. The agent therefore keeps the pod as it was. Pure.

#pragma once

#include "sync/wire/json.h"

namespace holdfast::sync::autonomy {

// `before` is the whole pod as it was, `status` its new status. False for a pod that had ended
// already or is being deleted. The reasons are those of upstream's pkg/kubelet/nodeshutdown and
// pkg/kubelet/lifecycle since 1.20.
[[nodiscard]] bool ends_by_reboot(const json::object& before, const json::object& status);

}  // namespace holdfast::sync::autonomy
