#include "agent/client/credential_plugin.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "platform/log.h"
#include "platform/loop/timer.h"

namespace holdfast::agent {

bool CredentialPlugin::is_outdated(WallTime now) const {
  if (!credential_ || is_refused_) return true;
  return credential_->until && *credential_->until <= now;
}

asio::awaitable<Result<CredentialPlugin::CredentialPtr>> CredentialPlugin::get(
    std::shared_ptr<CredentialPlugin> self, const Clock& clock, MonoTime deadline) {
  if (!self->changed_) {
    const auto executor = co_await asio::this_coro::executor;
    self->changed_.emplace(executor);
    self->tasks_.emplace(executor);
  }
  const MonoTime began = clock.mono();
  const MonoTime until = self->credential_ ? began + (deadline - began) / 2 : deadline;
  while (self->is_outdated(clock.wall())) {
    if (!self->is_running_) {
      if (clock.mono() < self->retry_at_) break;
      self->start();
      continue;  // It may have ended already.
    }
    const bool changed = co_await self->changed_->wait_until(until);
    if (!changed) break;
  }
  if (self->credential_) co_return self->credential_;
  if (self->is_running_) co_return fail(Errc::timeout, "credential plug-in: deadline passed");
  co_return fail(*self->failure_);
}

void CredentialPlugin::refused(const CredentialPtr& used) {
  if (used == credential_) is_refused_ = true;
}

void CredentialPlugin::start() {
  is_running_ = true;
  tasks_->spawn("credential plug-in", refresh(weak_from_this(), config_, run_, limits_));
}

// Owns what it uses: the last owner of the plug-in may go while it runs, which cancels this.
asio::awaitable<void> CredentialPlugin::refresh(std::weak_ptr<CredentialPlugin> weak,
                                                ExecConfig config, RunPlugin run,
                                                PluginLimits limits) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  auto output = co_await run(config, limits, clock.mono() + limits.run);
  if (const auto self = weak.lock()) self->finish(std::move(output), clock.mono());
}

void CredentialPlugin::finish(Result<std::string> output, MonoTime now) {
  is_running_ = false;
  auto read = output ? parse_exec_credential(*output, config_.api_version)
                     : Result<ExecCredential>(tl::unexpected(output.error()));
  if (read) {
    credential_ = std::make_shared<const ExecCredential>(*std::move(read));
    is_refused_ = false;
    pause_ = {};
    retry_at_ = now + limits_.between_runs;
    const auto& until = credential_->until;
    log_info("credential plug-in ran", {{"command", config_.command},
                                        {"until", until ? format_rfc3339(*until) : "not known"}});
  } else {
    pause_ = std::clamp(pause_ * 2, limits_.pause_min, limits_.pause_max);
    retry_at_ = now + pause_;
    failure_ =
        Error{Errc::denied, "credential plug-in " + config_.command + ": " + read.error().what};
    log_warn("credential plug-in failed", {{"error", *failure_},
                                           {"again_in", format_duration(pause_)},
                                           {"keeps_last", credential_ != nullptr}});
  }
  changed_->notify_all();
}

}  // namespace holdfast::agent
