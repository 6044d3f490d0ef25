// All Kubernetes types we read and write, as plain values.
//
// No JSON here; codec.h translates. Include the family you need when compile time matters.

#pragma once

#include "sync/model/config.h"
#include "sync/model/meta.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/workload.h"
