// Sends the requests to one scheduler extender by HTTP POST. sync/schedule builds the bodies and
// interprets the answers.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "agent/cloud/scheduler/scheduler_plan.h"
#include "platform/http/client.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class ExtenderCaller {
 public:
  // `clock` is borrowed and outlives it. Errors: invalid (certificates).
  [[nodiscard]] static Result<std::unique_ptr<ExtenderCaller>> make(const ExtenderPlan& plan,
                                                                    const Clock& clock);

  [[nodiscard]] const ExtenderPlan& plan() const { return plan_; }

  // Posts `body` to `verb` and returns the body of the answer, which must have status 200. Errors:
  // timeout after ExtenderPlan::timeout; unavailable (it cannot be reached, or answered another
  // status); other errors of http::Client::send().
  asio::awaitable<Result<std::string>> ask(std::string verb, std::string body);

 private:
  ExtenderCaller(const ExtenderPlan& plan, http::Endpoint endpoint, const Clock& clock);

  ExtenderPlan plan_;
  http::Client http_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
