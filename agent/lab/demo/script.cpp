#include "agent/lab/demo/script.h"

#include <algorithm>
#include <csignal>

#include "agent/lab/demo/constants.h"
#include "agent/lab/demo/words.h"
#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;

constexpr Duration look_again = 200ms;
constexpr std::ptrdiff_t renewals_seen = 4;
constexpr Duration script_limit = 78s;  // the rest of 90 s is for ending everything

}  // namespace

DemoScript::DemoScript(DemoSetup& setup, DemoProcesses& processes, Recorder& recorder,
                       Screen& screen, const loop::Stop& stop)
    : setup_(setup),
      processes_(processes),
      recorder_(recorder),
      screen_(screen),
      stop_(stop),
      shown_(setup.nodes()) {}

asio::awaitable<Status> DemoScript::until(std::string what, Duration limit, Condition condition) {
  const DemoTime began = recorder_.now();
  const MonoTime deadline = recorder_.clock().mono() + limit;
  while (!condition(recorder_.snapshot())) {
    if (stop_.requested()) co_return fail(Errc::cancelled, "stopped");
    if (recorder_.clock().mono() >= deadline || recorder_.now() >= script_limit) {
      co_return fail(Errc::timeout,
                     what + " did not happen within " +
                         format_duration(std::chrono::floor<std::chrono::milliseconds>(
                             recorder_.now() - began)));
    }
    screen_.show(recorder_.snapshot(), shown_);
    (void)co_await recorder_.changed().wait_until(recorder_.clock().mono() + look_again);
  }
  screen_.show(recorder_.snapshot(), shown_);
  Status done;
  co_return done;
}

asio::awaitable<Status> DemoScript::wait_for_renewals() {
  const auto& leases = recorder_.history().leases;
  const std::size_t from = leases.size();
  const auto nodes = setup_.nodes();
  Condition renewed = [&leases, from, nodes](const ClusterSnapshot& /*snapshot*/) {
    return std::all_of(nodes.begin(), nodes.end(), [&leases, from](const std::string& node) {
      const auto first = leases.begin() + static_cast<std::ptrdiff_t>(from);
      return renewals_seen <= std::count_if(first, leases.end(), [&node](const LeaseSeen& lease) {
               return lease.node == node;
             });
    });
  };
  co_return co_await until("renewals of all leases", 20s, renewed);
}

void DemoScript::act(DemoEvent event, std::vector<std::string> nodes, const std::string& text,
                     const std::string& why) {
  recorder_.note(Mark{.event = event, .nodes = std::move(nodes), .text = text});
  say(text);
  if (!why.empty()) screen_.why(why);
}

std::vector<ProcessSeen> DemoScript::running(const std::string& node,
                                             const std::string& uid) const {
  std::vector<ProcessSeen> found;
  for (const ProcessSeen& process : recorder_.history().processes) {
    const bool wanted = process.node == node && !process.ended;
    if (wanted && (uid.empty() || process.uid == uid)) found.push_back(process);
  }
  return found;
}

asio::awaitable<Status> DemoScript::play() {
  Status done = co_await open();
  if (done) done = co_await settle();
  if (done) done = co_await cut();
  if (done) done = co_await kill_and_restart_agent();
  if (done) done = co_await kill_pod();
  if (done) done = co_await wait_for_eviction();
  if (done) done = co_await restore();
  if (done) done = co_await fill_node();
  if (done) done = co_await make_room();
  if (done) done = co_await drain();
  if (done) done = co_await open_sites();
  if (done) done = co_await cut_first_site();
  if (done) done = co_await cut_both_sites();
  if (done) done = co_await restore_sites();
  screen_.hide();
  co_return done;
}

asio::awaitable<Status> DemoScript::open() {
  say("start the control plane: API server and holdfast-cloud");
  Status done = co_await processes_.start_control_plane();
  if (!done) co_return done;
  say("start three agents whose links are cut from the beginning");
  screen_.why("an agent that has never reached its cloud must answer 503, not an empty list");
  done = co_await processes_.start_agents();
  if (!done) co_return done;
  processes_.watch();
  const auto& answers = recorder_.history().answers;
  const auto nodes = setup_.nodes();
  Condition all_asked = [&answers, nodes](const ClusterSnapshot& /*snapshot*/) {
    return std::all_of(nodes.begin(), nodes.end(), [&answers](const std::string& node) {
      return std::any_of(answers.begin(), answers.end(), [&node](const AnswerSeen& answer) {
        return answer.node == node && answer.incomplete && answer.status != 0;
      });
    });
  };
  done = co_await until("an answer from every agent", 15s, all_asked);
  if (!done) co_return done;
  say("restore the links");
  for (const std::string& node : nodes) processes_.restore(node);
  Condition registered = [nodes](const ClusterSnapshot& snapshot) {
    return snapshot.is_recovered(nodes.size());
  };
  co_return co_await until("three nodes that are Ready", 20s, registered);
}

asio::awaitable<Status> DemoScript::settle() {
  Status done = co_await processes_.make_autonomous(setup_.autonomous);
  if (!done) co_return done;
  say(setup_.autonomous + " is annotated node.beta.openyurt.io/autonomy=true");
  done = co_await processes_.post_workloads();
  if (!done) co_return done;
  say("a Deployment of " + plural(static_cast<std::size_t>(setup_.replicas), "replica") +
      " and a DaemonSet are created");
  const DemoSetup setup = setup_;
  Condition steady = [this, setup](const ClusterSnapshot& snapshot) {
    for (const std::string& node : setup.nodes()) {
      if (running(node).size() != snapshot.on(node).size()) return false;
      if (snapshot.running(node, "DaemonSet") < 1 || snapshot.running(node, "ReplicaSet") < 1) {
        return false;
      }
    }
    return snapshot.replicas().ready == setup.replicas && snapshot.is_recovered(3);
  };
  done = co_await until("all pods ready", 25s, steady);
  if (!done) co_return done;
  done = co_await wait_for_renewals();
  if (!done) co_return done;
  std::size_t processes = 0;
  for (const std::string& node : setup_.nodes()) processes += running(node).size();
  measure_memory();
  act(DemoEvent::steady, setup_.nodes(), "steady: " + plural(processes, "pod process") + " run",
      "from here on nothing may change " + setup_.autonomous + "'s pods");
  co_return done;
}

void DemoScript::measure_memory() {
  for (const std::string& node : setup_.nodes()) {
    const auto kib = processes_.memory(node);
    const auto pods = recorder_.snapshot().on(node).size();
    if (!kib) {
      say("the memory of " + node + "'s agent cannot be read");
      continue;
    }
    recorder_.history().memory.push_back({node, *kib, static_cast<std::int64_t>(pods)});
    say(node + "'s agent uses " + std::to_string(*kib) + " KiB (PSS) with " + plural(pods, "pod"));
  }
}

asio::awaitable<Status> DemoScript::cut() {
  act(DemoEvent::cut, {setup_.autonomous, setup_.ordinary},
      "black-hole the links of " + setup_.autonomous + " and " + setup_.ordinary,
      "connections stay open but no byte gets through: the outage that is hardest to detect");
  processes_.cut(setup_.autonomous);
  processes_.cut(setup_.ordinary);
  const DemoSetup setup = setup_;
  Condition offline = [setup](const ClusterSnapshot& snapshot) {
    return snapshot.link(setup.autonomous) == "offline" &&
           snapshot.link(setup.ordinary) == "offline";
  };
  const DemoTime began = recorder_.now();
  Status done = co_await until("both agents offline", 10s, offline);
  if (done) {
    say("both agents are offline after " + std::string(trim(clock_text(recorder_.now() - began))) +
        " and answer from their caches");
  }
  co_return done;
}

asio::awaitable<Status> DemoScript::kill_and_restart_agent() {
  const std::string& node = setup_.autonomous;
  act(DemoEvent::agent_killed, {node}, "kill -9 the agent of " + node,
      "its pods must keep running, and the agent must adopt them again without the cloud");
  const auto before = running(node);
  processes_.kill_agent(node);
  Condition down = [node](const ClusterSnapshot& snapshot) {
    return snapshot.link(node) == "down";
  };
  Status done = co_await until("the agent's end", 5s, down);
  if (!done) co_return done;
  done = co_await processes_.start_agent(node);
  if (!done) co_return done;
  recorder_.note(Mark{.event = DemoEvent::agent_back, .nodes = {node}, .text = "agent restarted"});
  say("the agent runs again, its link is still cut");
  Condition back = [node](const ClusterSnapshot& snapshot) {
    return snapshot.link(node) == "offline";
  };
  done = co_await until("the agent's return", 10s, back);
  if (!done) co_return done;
  const auto after = running(node);
  std::size_t same = 0;
  for (const ProcessSeen& process : before) {
    same += static_cast<std::size_t>(std::count(after.begin(), after.end(), process));
  }
  say("it has adopted " + std::to_string(same) + " of " + plural(before.size(), "process"));
  co_return done;
}

asio::awaitable<Status> DemoScript::kill_pod() {
  const std::string& node = setup_.autonomous;
  const auto pods = recorder_.snapshot().on(node, "ReplicaSet");
  const auto victims = running(node, pods.empty() ? "?" : pods.front().uid);
  if (victims.empty()) co_return fail(Errc::not_found, "no pod to kill on " + node);
  setup_.killed_pod = victims.front().uid;
  act(DemoEvent::pod_killed, {node},
      "kill -9 process " + std::to_string(victims.front().pid) + " of pod " + pods.front().name,
      "a pod that dies during an outage is restarted from the cache, with its configuration");
  auto identity = proc::identify(victims.front().pid);
  if (identity) identity->start_ticks = victims.front().start_ticks;
  const Status killed =
      identity ? proc::signal_group(*identity, SIGKILL) : Status(fail(identity.error()));
  if (!killed) co_return killed;
  const ProcessSeen& victim = victims.front();
  Condition again = [this, victim](const ClusterSnapshot& /*snapshot*/) {
    const auto now = running(victim.node, victim.uid);
    return !now.empty() && now.front().pid != victim.pid;
  };
  const Status done = co_await until("the killed pod's return", 25s, again);
  if (done) {
    say("the pod runs again as process " +
        std::to_string(running(victim.node, victim.uid).front().pid));
  }
  co_return done;
}

asio::awaitable<Status> DemoScript::wait_for_eviction() {
  const DemoSetup setup = setup_;
  Condition unknown = [setup](const ClusterSnapshot& snapshot) {
    return snapshot.ready(setup.autonomous) == "Unknown" &&
           snapshot.ready(setup.ordinary) == "Unknown" &&
           snapshot.tainted(setup.autonomous, ":NoSchedule") &&
           snapshot.tainted(setup.ordinary, ":NoExecute");
  };
  Status done = co_await until("both nodes Unknown", 30s, unknown);
  if (!done) co_return done;
  say("both nodes are Unknown; only " + setup.ordinary + " has the NoExecute taint");
  screen_.why("it is withheld from " + setup.autonomous +
              ": pods of an autonomous node are not evicted");
  Condition evicted = [setup](const ClusterSnapshot& snapshot) {
    const auto stale = snapshot.on(setup.ordinary, "ReplicaSet");
    const bool all =
        std::all_of(stale.begin(), stale.end(), [](const PodSeen& pod) { return pod.deleting; });
    const auto kept = snapshot.running(setup.autonomous, "ReplicaSet");
    return all && kept + snapshot.running(setup.connected, "ReplicaSet") == setup.replicas;
  };
  done = co_await until("the eviction from " + setup.ordinary, 30s, evicted);
  if (done) {
    say(setup.ordinary + "'s pods are evicted and run again on " + setup.connected + "; " +
        setup.autonomous + "'s are kept");
  }
  co_return done;
}

asio::awaitable<Status> DemoScript::restore() {
  act(DemoEvent::restored, {setup_.autonomous, setup_.ordinary}, "restore both links",
      "queued writes are replayed, taints are removed, stale pods stop, other pods are not "
      "affected");
  processes_.restore(setup_.autonomous);
  processes_.restore(setup_.ordinary);
  const DemoSetup setup = setup_;
  Condition healed = [setup](const ClusterSnapshot& snapshot) {
    const auto stale = snapshot.on(setup.ordinary, "ReplicaSet");
    const bool clean =
        std::none_of(stale.begin(), stale.end(), [](const PodSeen& pod) { return pod.deleting; });
    return snapshot.is_recovered(3) && clean && snapshot.replicas().ready == setup.replicas;
  };
  Status done = co_await until("recovery", 30s, healed);
  if (!done) co_return done;
  const std::string killed = setup_.killed_pod;
  Condition reported = [killed](const ClusterSnapshot& snapshot) {
    const auto pod = snapshot.pods().find(killed);
    return pod != snapshot.pods().end() && pod->second.ready && pod->second.restarts == 1;
  };
  done = co_await until("the report of the killed pod's restart", 10s, reported);
  if (!done) co_return done;
  say("everything is reconciled");
  done = co_await wait_for_renewals();
  if (!done) co_return done;
  for (const std::string& node : setup_.nodes()) {
    done = co_await read_journal(processes_.endpoints(node), recorder_);
    if (!done) co_return done;
  }
  act(DemoEvent::ended, setup_.nodes(), "recovered: all nodes Ready and untainted, outboxes empty",
      "");
  co_return done;
}

asio::awaitable<Status> DemoScript::drain() {
  say("delete the workloads");
  Status done = co_await processes_.delete_workloads();
  if (!done) co_return done;
  std::vector<Manifest> others = filler_pods(milli_cpu_, setup_);
  others.push_back(important_pod(milli_cpu_, setup_));
  done = co_await processes_.remove(std::move(others));
  if (!done) co_return done;
  Condition empty = [this](const ClusterSnapshot& snapshot) {
    const auto nodes = setup_.nodes();
    return std::all_of(nodes.begin(), nodes.end(), [this, &snapshot](const std::string& node) {
      return snapshot.on(node).empty() && running(node).empty();
    });
  };
  done = co_await until("the pods' end", 20s, empty);
  if (done) say("all pods are gone");
  co_return done;
}

}  // namespace holdfast::agent::demo
