#include "agent/lab/up/kubectl_context.h"

#include <chrono>
#include <csignal>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/proc/notify.h"
#include "platform/proc/process.h"
#include "platform/terminal.h"
#include "platform/text.h"

namespace holdfast::agent::lab::up {
namespace {

using Words = std::vector<std::string>;

constexpr Duration kubectl_limit = std::chrono::seconds(10);
constexpr std::size_t output_max = 64 * 1024;

struct KubectlEnded {
  int code = 0;
  std::string output;
};

Result<KubectlEnded> run_kubectl(Words arguments, const std::string& log) {
  const fs::Path file = log;
  std::error_code ec;
  std::filesystem::remove(file, ec);
  proc::SpawnPlan plan{.argv = std::move(arguments), .log = file};
  plan.argv.insert(plan.argv.begin(), {"kubectl", "config"});
  for (const char* name : {"PATH", "HOME", "KUBECONFIG"}) {
    const auto value = proc::system_environment(name);
    if (value) plan.env.push_back(std::string(name) + "=" + *value);
  }
  TRY(const proc::ProcessIdentity child, proc::spawn(plan));
  const auto pidfd = proc::open_pidfd(child);
  const bool in_time = pidfd && proc::wait_for_end(*pidfd, kubectl_limit);
  if (!in_time) (void)proc::signal_process(child, SIGKILL);
  if (pidfd && !in_time) (void)proc::wait_for_end(*pidfd, kubectl_limit);
  const auto status = proc::reap(child.pid);
  if (!in_time || !status) return fail(Errc::timeout, "kubectl has not ended in time");
  KubectlEnded ended{.code = status->signalled ? -1 : status->number, .output = {}};
  ended.output = escape_for_terminal(trim(fs::read_all(log, output_max).value_or("")));
  return ended;
}

Status change(Words arguments, const std::string& log) {
  const std::string what = "kubectl config " + arguments.front();
  const auto ended = run_kubectl(std::move(arguments), log);
  if (!ended) return fail(what, ended.error());
  if (ended->code != 0) return fail(Errc::unavailable, what + ": " + ended->output);
  return {};
}

Status all_of(const std::vector<Words>& changes, const std::string& log) {
  for (const Words& words : changes) {
    if (auto done = change(words, log); !done) return done;
  }
  return {};
}

}  // namespace

Status add_context(const ContextTarget& target) {
  const std::string name = context_name;
  const auto found = run_kubectl({"get-contexts", name}, target.log);
  if (!found) return fail("--kubectl-context: kubectl", found.error());
  if (found->code == 0) {
    return fail(Errc::conflict, "--kubectl-context: your kubeconfig already has a context " + name +
                                    ", perhaps of another `holdfast-lab up`; remove it with "
                                    "`kubectl config delete-context " +
                                    name + "`");
  }
  std::vector<Words> changes = {{"set-cluster", name, "--server=" + target.server},
                                {"set-context", name, "--cluster=" + name, "--user=" + name}};
  if (!target.ca_file.empty()) {
    changes.front().push_back("--certificate-authority=" + target.ca_file);
  }
  if (!target.token_file.empty()) {
    changes.push_back({"set", "users." + name + ".tokenFile", target.token_file});
  }
  return all_of(changes, target.log);
}

Status remove_context(const ContextTarget& target) {
  const std::string name = context_name;
  std::vector<Words> changes = {{"delete-context", name}, {"delete-cluster", name}};
  if (!target.token_file.empty()) changes.push_back({"delete-user", name});
  return all_of(changes, target.log);
}

}  // namespace holdfast::agent::lab::up
