// Adapts answers from the cache for people: adds a warning that they may be outdated, and prints
// the tables that kubectl shows.
//
// The warning is a header (`Warning: 299 - "..."`, RFC 7234, 5.5), which kubectl prints before the
// answer. It is sent to callers whose user agent is not a node component's; components would only
// log it. Its times are UTC.
//
// Tables have kube-apiserver's columns. For kinds whose columns this program does not know, such as
// custom resources, columns and cells are taken from the last table that came from the cloud.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string_view>

#include "agent/edge/cache/scopes.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/options/options.h"
#include "agent/edge/route/caller.h"
#include "sync/api/request_info.h"
#include "sync/apiserver/printed.h"

namespace holdfast::agent {

// Whether a caller with this user agent (its first word, in lower case) is a person: a known tool
// such as kubectl, or neither a known node component nor listed in --cache-agents.
[[nodiscard]] bool is_person(std::string_view agent, const EdgeOptions& options);

// `text` as the value of a Warning header. Control characters are removed.
[[nodiscard]] std::string warning_header(std::string_view text);

class People {
 public:
  People(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, const Clock& clock);

  // While the cloud is unreachable: for a request that accepts only a table or metadata, the same
  // request for whole objects, from which show() makes them. Nothing if the request can be answered
  // as it is.
  [[nodiscard]] std::optional<http::Request> without_form(const http::Request& request) const;

  // Prepares an answer for the caller. `of_objects`: it was made here, or from the request of
  // without_form(); it gets the warning and the form that the client accepts. Other answers are
  // returned as they are, and tables in them are remembered.
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
