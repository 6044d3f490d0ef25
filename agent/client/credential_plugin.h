// Keeps the credential of an exec plug-in: runs it when there is none, when the credential has
// ended, and after the API server refused it.
//
// Requests that come while it runs wait for it. If it fails, the last credential stays in use, and
// the next try waits, each time longer; so a plug-in that needs the network changes nothing while
// the node is offline. Copies of a ClusterAccess share one.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/client/exec_credential.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct PluginLimits {
  Duration run = std::chrono::minutes(1);  // then it is killed
  std::size_t output_bytes = 256UL << 10;
  std::size_t error_bytes = 4UL << 10;           // of its standard error that are logged
  Duration pause_min = std::chrono::seconds(1);  // after a failure; doubled each time
  Duration pause_max = std::chrono::minutes(5);
  Duration between_runs = std::chrono::seconds(10);  // at least, if what it gives is refused
};

// Runs a plug-in and returns its standard output.
using RunPlugin = std::function<asio::awaitable<Result<std::string>>(
    const ExecConfig& config, const PluginLimits& limits, MonoTime deadline)>;

class CredentialPlugin : public std::enable_shared_from_this<CredentialPlugin> {
 public:
  using CredentialPtr = std::shared_ptr<const ExecCredential>;

  CredentialPlugin(ExecConfig config, RunPlugin run, const PluginLimits& limits = {})
      : config_(std::move(config)), run_(std::move(run)), limits_(limits) {}

  // The credential for a request. Waits for the plug-in if necessary, at most until `deadline`, and
  // if there is an older credential only for half of that time. Errors: denied (the plug-in failed
  // and there is no older credential), timeout.
  static asio::awaitable<Result<CredentialPtr>> get(std::shared_ptr<CredentialPlugin> self,
                                                    const Clock& clock, MonoTime deadline);

  // Call it when the API server answered 401 to a request with `used`.
  void refused(const CredentialPtr& used);

  [[nodiscard]] const ExecConfig& config() const { return config_; }

 private:
  static asio::awaitable<void> refresh(std::weak_ptr<CredentialPlugin> weak, ExecConfig config,
                                       RunPlugin run, PluginLimits limits);
  void finish(Result<std::string> output, MonoTime now);
  void start();
  // Whether the plug-in should be asked.
  [[nodiscard]] bool is_outdated(WallTime now) const;

  ExecConfig config_;
  RunPlugin run_;
  PluginLimits limits_;
  CredentialPtr credential_;
  bool is_refused_ = false;
  bool is_running_ = false;
  std::optional<Error> failure_;
  MonoTime retry_at_ = MonoTime::min();
  Duration pause_{};
  std::optional<loop::Event> changed_;  // made at the first get(), on its loop
  std::optional<loop::Tasks> tasks_;
};

}  // namespace holdfast::agent
