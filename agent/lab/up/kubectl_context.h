// A context "holdfast-lab" in the user's own kubeconfig, for `holdfast-lab up --kubectl-context`.
//
// kubectl itself changes the file, as it would for the user: it finds it, locks it and keeps what
// it does not know. The current context stays. Calls block for as long as kubectl runs.

#pragma once

#include <string>

#include "platform/result.h"

namespace holdfast::agent::lab::up {

inline constexpr const char* context_name = "holdfast-lab";

struct ContextTarget {
  std::string server = {};      // "https://127.0.0.1:7443"
  std::string ca_file = {};     // what verifies the server; empty: plain HTTP
  std::string token_file = {};  // holds the credentials; empty: none are needed
  std::string log = {};         // receives what kubectl prints
};

// Adds the context with a cluster and a user of the same name. Errors: conflict (there is such a
// context, which may be of another `up`), not_found (no kubectl), those of kubectl.
[[nodiscard]] Status add_context(const ContextTarget& target);

// Removes what add_context() added.
[[nodiscard]] Status remove_context(const ContextTarget& target);

}  // namespace holdfast::agent::lab::up
