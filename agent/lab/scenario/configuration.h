// The configuration under test: what the flags of a scenario mean for the rules.

#pragma once

#include "agent/edge/options/options.h"
#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"
#include "sync/lifecycle/controller.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent::lab {

struct Configuration {
  sync::lifecycle::Options rules;
  sync::lifecycle::EnabledControllers controllers;
  bool has_scheduler = false;  // holdfast-cloud's scheduler is enabled
  EdgeOptions edge;            // its names and files are placeholders
};

// Errors: invalid, naming the flag; those of the programs' own checks. A scenario from a file has
// passed these checks.
[[nodiscard]] Result<Configuration> configuration_of(const Scenario& scenario);

}  // namespace holdfast::agent::lab
