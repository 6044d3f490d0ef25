// The generic runner, performer and queue for the node lifecycle controller.

#pragma once

#include "agent/cloud/controller_runner.h"
#include "sync/lifecycle/controller.h"

namespace holdfast::agent {

using LifecycleRunner = ControllerRunner<sync::lifecycle::Controller>;
using LifecyclePerformer = LifecycleRunner::Performer;
using LifecycleObserver = LifecycleRunner::Observer;

}  // namespace holdfast::agent
