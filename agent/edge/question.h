// One read of a resource, taken apart.

#pragma once

#include <string>

#include "agent/edge/reads.h"

namespace holdfast::agent {

// One read, taken apart.
struct Reads::Question {
  sync::RequestInfo info;
  http::Query query;
  Caller caller;
  store::ScopeKey key;  // of the scope that answers exactly this
  ScopePtr scope;       // that answers it, maybe a wider one; null: none can be had
  bool newest = false;  // only the cloud knows
  bool asked = false;   // it was, and did not answer
  FilterCall* call = nullptr;
  std::string accept = {};  // the header

  [[nodiscard]] bool is_get() const { return info.verb == "get"; }
  [[nodiscard]] bool is_list() const { return info.verb == "list"; }
  [[nodiscard]] bool is_watch() const { return info.verb == "watch"; }
  [[nodiscard]] sync::ObjectKey object() const { return {info.namespace_name, info.name}; }
};

}  // namespace holdfast::agent
