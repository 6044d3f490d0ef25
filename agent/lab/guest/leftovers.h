// Finds and removes the objects of runs in a cluster that others use, too.
//
// Only objects are removed that have the label of a run, the annotation of a process, and a name
// that begins with the run's; and what is in such a namespace or belongs to such a node.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "agent/lab/guest/guest.h"

namespace holdfast::agent::lab::guest {

namespace asio = boost::asio;

struct FoundRun {
  std::string run;
  Owner owner;
};

// All runs that have objects in the cluster, sorted by name. Errors: those of the server. `client`
// is borrowed.
asio::awaitable<Result<std::vector<FoundRun>>> find_runs(ApiClient& client, const Clock& clock);

// Removes a run's namespaces with everything in them, its nodes with their leases and events, its
// priority classes and its certificate requests. Its processes must have ended. What does not exist
// any more is no error. Errors: those of the server; timeout, naming the namespaces that are still
// being deleted.
asio::awaitable<Status> remove_run(ApiClient& client, const Clock& clock, std::string run);

}  // namespace holdfast::agent::lab::guest
