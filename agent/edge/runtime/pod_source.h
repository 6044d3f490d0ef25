// What the process runtime needs from the rest of the agent: what should run, and somebody who
// takes its reports.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "platform/loop/event.h"
#include "sync/model/config.h"
#include "sync/runtime/actions.h"
#include "sync/runtime/config_source.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// The pods of this node with their ConfigMaps and Secrets, from the cache: the same through an
// outage. All answers come at once.
class PodSource : public sync::ConfigSource {
 public:
  // NeverReceived until a complete list of the node's pods was received, now or in an earlier life.
  [[nodiscard]] virtual sync::DesiredPods desired() const = 0;

  // Notified when any answer may have become another one.
  [[nodiscard]] virtual loop::Event& changed() = 0;
};

// Where the reports go: the agent's own proxy, which keeps them through an outage.
// Errors of all: timeout, unavailable and exhausted, after which the same is offered again later;
// with any other error it is dropped, for it can never succeed.
class StatusSink {
 public:
  virtual ~StatusSink() = default;

  // `patch` is a merge patch for the pod's status subresource, with the uid as its precondition:
  // {"metadata":{"uid":...},"status":{...}}. It serves as a strategic merge patch too.
  virtual asio::awaitable<Status> report_status(sync::PodKey pod, std::string patch) = 0;

  // A new Event about a pod.
  virtual asio::awaitable<Status> record_event(sync::Event event) = 0;

  // The pod has stopped: DELETE with gracePeriodSeconds 0 and the uid as its precondition.
  virtual asio::awaitable<Status> final_delete(sync::PodKey pod) = 0;
};

}  // namespace holdfast::agent
