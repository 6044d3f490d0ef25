// Makes answers from the cache fit for people: with a warning of how old they are, and as the
// tables that kubectl prints.
//
// The warning is a header (`Warning: 299 - "..."`, RFC 7234, 5.5) that kubectl prints in front of
// what it was told, and goes to whoever is not a node component by its user agent: those would only
// log it with each answer. Its times are UTC.
//
// Tables have the columns that kube-apiserver prints. Those of kinds that this program does not
// know, such as custom resources, are taken from the last table that came from the cloud; what an
// object's cells were is remembered with them.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string_view>

#include "agent/edge/caller.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "sync/api/request_info.h"
#include "sync/apiserver/printed.h"

namespace holdfast::agent {

// Whether somebody with this user agent (its first word, in lower case) reads what he is told, and
// is not one of the node's components nor one of those that `options` have cached by name.
[[nodiscard]] bool is_person(std::string_view agent, const EdgeOptions& options);

// `text` as the value of a Warning header. Control characters are left out.
[[nodiscard]] std::string warning_header(std::string_view text);

class People {
 public:
  People(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, const Clock& clock);

  // Without the cloud, a request that takes nothing but a table or metadata, as one for the objects
  // that these are made of. Nothing: it can be answered as it is.
  [[nodiscard]] std::optional<http::Request> without_form(const http::Request& request) const;

  // An answer as this caller is shown it. `of_objects`: it was made here, or without_form() was
  // asked. Others are passed on; what can be learnt from a table is remembered.
  [[nodiscard]] http::Response show(const http::Request& request, const sync::RequestInfo& info,
                                    const Caller& caller, bool of_objects, http::Response response);

 private:
  void warn(const Caller& caller, http::Response& response) const;
  http::Response print(const http::Request& request, const sync::RequestInfo& info,
                       const Caller& caller, sync::Form form, http::Response response);
  void learn(const sync::RequestInfo& info, const Caller& caller, const http::Response& response);
  [[nodiscard]] std::string seen_tables(const sync::RequestInfo& info, const Caller& caller);

  const EdgeOptions& options_;
  Scopes& scopes_;
  Uplink& uplink_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
