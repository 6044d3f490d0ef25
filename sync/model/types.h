// All Kubernetes types that we read and write, as plain values.
//
// This header has no JSON; codec.h converts. To save compile time, include only the family you
// need.

#pragma once

#include "sync/model/config.h"
#include "sync/model/meta.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/workload.h"
