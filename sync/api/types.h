// All Kubernetes types we read and write, as plain values.
//
// No JSON here; codec.h translates. Include the family you need when compile time matters.

#pragma once

#include "sync/api/config_types.h"
#include "sync/api/meta_types.h"
#include "sync/api/node_types.h"
#include "sync/api/pod_types.h"
#include "sync/api/workload_types.h"
