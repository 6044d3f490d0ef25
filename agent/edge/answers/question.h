// The parsed form of one read of a resource. Included by the files that implement Reads.

#pragma once

#include <string>

#include "agent/edge/answers/reads.h"

namespace holdfast::agent {

// A get, list or watch of a resource, with the scope that can answer it.
struct Reads::Question {
  sync::RequestInfo info;
  Query query;
  Caller caller;
  store::ScopeKey key;  // of the scope for exactly this request
  ScopePtr scope;       // answers it, may be a wider one; null: there is none
  bool newest = false;  // the newest state is wanted, which only the cloud knows
  bool asked = false;   // the cloud was asked already and did not answer
  FilterCall* call = nullptr;
  std::string accept = {};  // the Accept header

  [[nodiscard]] bool is_get() const { return info.verb == "get"; }
  [[nodiscard]] bool is_list() const { return info.verb == "list"; }
  [[nodiscard]] bool is_watch() const { return info.verb == "watch"; }
  [[nodiscard]] sync::ObjectKey object() const { return {info.namespace_name, info.name}; }
};

}  // namespace holdfast::agent
