// Receives the node's reports about its pods. StatusSender (status_sender.h) queues and retries
// reports; ApiStatusSink (api_status_sink.h) is the sink that sends them to the API; tests have
// others. Errors of all functions: after timeout, unavailable and exhausted the caller offers the
// same report again later. After any other error it drops the report, which can never succeed.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "platform/result.h"
#include "sync/model/config.h"
#include "sync/runtime/actions.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

class StatusSink {
 public:
  virtual ~StatusSink() = default;

  // `patch` is a merge patch for the pod's status subresource, with the uid as its precondition:
  // {"metadata":{"uid":...},"status":{...}}. It serves as a strategic merge patch too.
  virtual asio::awaitable<Status> report_status(sync::runtime::PodKey pod, std::string patch) = 0;

  // A new Event about a pod.
  virtual asio::awaitable<Status> record_event(sync::Event event) = 0;

  // The pod has stopped: DELETE with gracePeriodSeconds 0 and the uid as its precondition.
  virtual asio::awaitable<Status> final_delete(sync::runtime::PodKey pod) = 0;
};

}  // namespace holdfast::agent::node
