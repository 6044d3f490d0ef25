// The registration of the node: what the kubelet last sent to create its Node, and how the node is
// registered again if the cloud has deleted it during an outage. The kubelet itself registers only
// when it starts.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "agent/edge/cache/stored_answers.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/route/routed_request.h"
#include "platform/random.h"

namespace holdfast::agent {

class Registration {
 public:
  // All parameters must outlive this.
  Registration(std::string node_name, StoredAnswers& answers, Uplink& uplink,
               OfflineStore& offline_store, const Clock& clock, Random& random)
      : node_name_(std::move(node_name)),
        answers_(answers),
        uplink_(uplink),
        offline_store_(offline_store),
        clock_(clock),
        random_(random) {}

  // The API server has answered the creation of a Node: keeps the request if it is this node's and
  // the Node exists then. A failure is logged.
  void note(const RoutedRequest& request, const http::Response& response);

  // The API server has no Node of this name. `known` is the last known Node as JSON, or "".
  // Registers the node again, drops the statuses that are queued for the old one, and tells of it:
  // on the log, in the journal, by an Event. A registration that is queued is left to the outbox;
  // one that the API server refuses or does not answer is told of, too; then false is returned, and
  // repeat() may be called again later. One that is under way is left to itself. A node that was
  // never registered is only noted in the journal. Errors: the disk's.
  asio::awaitable<Result<bool>> repeat(std::string known);

  // The API server has the Node: what repeat() tells next is news.
  void note_existence() { told_.clear(); }

  // What the last repeat() did, for people; "" if there was none.
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  [[nodiscard]] std::optional<ApiRequest> request_of(const std::string& known);
  [[nodiscard]] bool is_queued();
  // Does nothing if it told the same last.
  void tell(const std::string& what);
  asio::awaitable<void> send_event();

  const std::string node_name_;
  StoredAnswers& answers_;
  Uplink& uplink_;
  OfflineStore& offline_store_;
  const Clock& clock_;
  Random& random_;
  std::string last_;
  std::string told_;
  bool under_way_ = false;
};

}  // namespace holdfast::agent
