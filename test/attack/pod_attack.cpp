// Root in a container, and root processes that forward requests of others, must not act as the
// node.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "test/attack/attack_fixture.h"
#include "test/attack/cgroup.h"

namespace holdfast::attack {
namespace {

// Unique in this run: another run of the attacks on this machine uses other cgroups.
std::string number_of_run() {
  const std::string pid = std::to_string(getpid());
  return std::string(12 - pid.size(), '0') + pid;
}

const std::string number = number_of_run();
const std::string uid_part = "0f3b5c1e-6a0d-4f0e-9a55-" + number;
const std::string container = std::string(52, 'c') + number;

// The cgroups of containers, in the forms that kubelets use.
const std::string pod_paths[] = {
    "kubepods/burstable/pod" + uid_part + "/" + container,
    "kubepods/pod" + uid_part + "/" + container,
    "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod"
    "0f3b5c1e_6a0d_4f0e_9a55_" +
        number + ".slice/cri-containerd-" + container + ".scope",
    "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod"
    "0f3b5c1e_6a0d_4f0e_9a55_" +
        number + ".slice/crio-" + container + ".scope",
    "k8s.io/kubelet/kubepods/besteffort/pod" + uid_part + "/" + container + "/init.scope",
};

std::string post_event(std::uint16_t port) {
  return text_of({.target = events_path, .method = "POST", .body = event_body("by-a-pod")}, port);
}

// One process of the pod opens the connection and ends; its child sends the request.
std::string ask_by_child(std::uint16_t port, const std::string& bytes) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return {};
  const Socket socket = connect_to(port);
  const pid_t middle = fork();
  if (middle == 0) {
    if (fork() != 0) _exit(0);
    (void)setsid();
    const std::string came = converse(socket, bytes, 10s);
    (void)!write(ends[1], came.data(), came.size());
    _exit(0);
  }
  (void)waitpid(middle, nullptr, 0);
  (void)close(ends[1]);
  std::string all(1 << 16, '\0');
  const auto count = read(ends[0], all.data(), all.size());
  all.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return all;
}

class Pods : public Attack {
 protected:
  static RunAs in(const PodCgroup& cgroup) {
    return {.uid = 0, .cgroup = cgroup.folders(), .no_capabilities = true};
  }
};

TEST_F(Pods, RootInAPodIsNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const std::uint16_t port = edge_port;
  for (const std::string& path : pod_paths) {
    const PodCgroup cgroup(path);
    if (cgroup.folders().empty()) GTEST_SKIP() << "NOT RUN: " << cgroup.why();
    const Answer read = parse_answer(
        run_as(in(cgroup), [port] { return ask_raw(port, {.target = treasure_list}); }));
    EXPECT_TRUE(read.refused()) << path << ": " << read.status;
    EXPECT_FALSE(read.has(treasure)) << path;
    const Answer written =
        parse_answer(run_as(in(cgroup), [port] { return converse(port, post_event(port)); }));
    EXPECT_TRUE(written.refused()) << path << ": " << written.status;
    const Answer by_child = parse_answer(run_as(in(cgroup), [port] {
      return ask_by_child(port, text_of({.target = treasure_list}, port));
    }));
    EXPECT_TRUE(by_child.refused()) << path << ", by another process: " << by_child.status;
    const std::uint16_t admin = admin_port;
    const Answer page = parse_answer(
        run_as(in(cgroup), [admin] { return ask_raw(admin, {.target = "/v1/status"}); }));
    EXPECT_TRUE(page.refused()) << path << ", the admin listener: " << page.status;
  }
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
  expect_root_is_served();
}

// The pod's cgroup exists in one hierarchy only, as with cgroup v1 when the runtime does not use
// all hierarchies.
TEST_F(Pods, RootInAPodIsNotTheNodeWhateverHierarchyTellsIt) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const std::uint16_t port = edge_port;
  const PodCgroup cgroup(pod_paths[0]);
  if (cgroup.folders().empty()) GTEST_SKIP() << "NOT RUN: " << cgroup.why();
  std::string rest = cgroup.folders();
  while (!rest.empty()) {
    const std::string one = rest.substr(0, rest.find('\n') + 1);
    rest.erase(0, one.size());
    const RunAs who{.uid = 0, .cgroup = one, .no_capabilities = true};
    const Answer read =
        parse_answer(run_as(who, [port] { return ask_raw(port, {.target = treasure_list}); }));
    EXPECT_TRUE(read.refused()) << one << read.status;
    EXPECT_FALSE(read.has(treasure)) << one;
  }
}

TEST_F(Pods, APodWithATokenIsServedAsItsToken) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const PodCgroup cgroup(pod_paths[0]);
  if (cgroup.folders().empty()) GTEST_SKIP() << "NOT RUN: " << cgroup.why();
  const std::uint16_t port = edge_port;
  const auto with = [&](const std::string& token) {
    return parse_answer(run_as(in(cgroup), [port, &token] {
      return ask_raw(port, {.target = treasure_list, .bearer = token});
    }));
  };
  EXPECT_EQ(with("bob-token").status, 200);
  EXPECT_EQ(with("alice-token").status, 403);
  EXPECT_EQ(with("invented").status, 401);
}

TEST_F(Pods, HostNetworkPodsAreTrustedOnlyWhenAskedFor) {
  const PodCgroup cgroup(pod_paths[0]);
  if (cgroup.folders().empty()) GTEST_SKIP() << "NOT RUN: " << cgroup.why();
  ASSERT_NO_FATAL_FAILURE(start_lab());
  ASSERT_NO_FATAL_FAILURE(start_edge({"--trust-host-network-pods=true"}));
  const std::uint16_t port = edge_port;
  const std::string came =
      run_as(in(cgroup), [port] { return ask_raw(port, {.target = treasure_list}); });
  EXPECT_EQ(parse_answer(came).status, 200) << came;
}

TEST_F(Pods, WhoPostsFromAPodAndLeavesIsNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const PodCgroup cgroup(pod_paths[0]);
  if (cgroup.folders().empty()) GTEST_SKIP() << "NOT RUN: " << cgroup.why();
  const std::uint16_t port = edge_port;
  for (int i = 0; i < 40; ++i) {
    const auto post_and_exit = [port] {
      Socket socket = connect_to(port);
      (void)socket.send(post_event(port));
      return std::string("done");
    };
    ASSERT_EQ(run_as(in(cgroup), post_and_exit), "done");
  }
  for (int i = 0; i < 20; ++i) (void)as_node(treasure_list);
  (void)eventually(300ms, [this] { return performed_as_node(events_path, "create") > 0; });
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
}

// A container runtime forwards what others send, as in a port-forward to a hostNetwork pod.
TEST_F(Attack, ARuntimeThatRelaysIsNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  for (const std::string name :
       {"containerd", "crio", "dockerd", "conmon", "docker-proxy", "containerd-shim-runc-v2"}) {
    const std::string program = file(name);
    std::filesystem::copy_file("/proc/self/exe", program,
                               std::filesystem::copy_options::overwrite_existing);
    (void)chmod(program.c_str(), 0700);
    const std::uint16_t at = free_port();
    Program relay({.argv = {program, "--relay", std::to_string(at), std::to_string(edge_port)},
                   .log = file("relay.log")});
    ASSERT_TRUE(eventually(5s, [at] { return connect_to(at).open(); }));
    const std::string host = "127.0.0.1:" + std::to_string(edge_port);
    const Answer read = ask_as_nobody(at, {.target = treasure_list, .host = host, .limit = 5s});
    EXPECT_TRUE(read.refused()) << "through " << name << ": " << read.status;
    EXPECT_FALSE(read.has(treasure)) << "through " << name;
    const Answer written = ask_as_nobody(at, {.target = events_path,
                                              .method = "POST",
                                              .body = event_body("by-a-relay"),
                                              .host = host,
                                              .limit = 5s});
    EXPECT_TRUE(written.refused()) << "through " << name << ": " << written.status;
  }
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
}

// A runtime that forwards requests, in its own cgroup, on a machine where each search for the owner
// of a socket reads thousands of descriptors.
class Relays : public Attack {
 protected:
  // Starts the relay and returns the port on which it listens; 0 if it could not be started.
  std::uint16_t start_relay() {
    const std::string program = file("containerd");
    std::filesystem::copy_file("/proc/self/exe", program);
    (void)chmod(program.c_str(), 0700);
    const std::uint16_t at = free_port();
    const std::uint16_t to = edge_port;
    relay_ = std::make_unique<AttackerProcess>(
        RunAs{.uid = 0, .cgroup = cgroup_.folders()}, [&program, at, to](const Say&) {
          const std::string from_text = std::to_string(at);
          const std::string to_text = std::to_string(to);
          (void)execl(program.c_str(), program.c_str(), "--relay", from_text.c_str(),
                      to_text.c_str(), nullptr);
        });
    return eventually(5s, [at] { return connect_to(at).open(); }) ? at : std::uint16_t{0};
  }

  void fill_process_table() {
    for (int i = 0; i < 3; ++i) {
      fillers_.push_back(std::make_unique<AttackerProcess>(RunAs{.uid = 0}, [](const Say& say) {
        int held = 0;
        while (held < 9000 && dup(STDIN_FILENO) >= 0) ++held;
        say(std::to_string(held));
        for (;;) (void)pause();
      }));
      EXPECT_EQ(fillers_.back()->line(), "9000");
    }
  }

  // Opens `count` connections before sending a request on each. Returns how many answers had each
  // status.
  static std::string ask_at_once(std::uint16_t port, const std::string& bytes, int count) {
    std::vector<Socket> sockets;
    for (int i = 0; i < count; ++i) sockets.push_back(connect_to(port));
    for (const Socket& socket : sockets) (void)socket.send(bytes);
    std::map<int, int> statuses;
    for (const Socket& socket : sockets) ++statuses[parse_answer(converse(socket, "", 10s)).status];
    std::string text;
    for (const auto& [status, times] : statuses) {
      text += std::to_string(times) + " times " + std::to_string(status) + " ";
    }
    return text;
  }

 private:
  PodCgroup cgroup_{"holdfast-attack" + number + ".slice/containerd.service"};
  std::unique_ptr<AttackerProcess> relay_;
  std::vector<std::unique_ptr<AttackerProcess>> fillers_;
};

TEST_F(Relays, ManyConnectionsAtOnceAreNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  fill_process_table();
  const std::uint16_t at = start_relay();
  ASSERT_NE(at, 0);
  const Ask read{.target = treasure_list, .host = "127.0.0.1:" + std::to_string(edge_port)};
  Ask write = read;
  write.target = events_path;
  write.method = "POST";
  write.body = event_body("by-a-relay");
  for (const Ask& one : {read, write}) {
    const std::string bytes = text_of(one, edge_port);
    const std::string came =
        run_as_nobody([at, &bytes] { return ask_at_once(at, bytes, 100); }, 60s);
    EXPECT_EQ(came, "100 times 401 ");
  }
  EXPECT_EQ(performed_as_node(events_path, "create"), 0u);
}

// The attack must not exhaust a budget that other processes of the node need.
TEST_F(Relays, AFloodKeepsNoProcessOfTheNodeOut) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  fill_process_table();
  const std::uint16_t at = start_relay();
  ASSERT_NE(at, 0);
  const std::string host = "127.0.0.1:" + std::to_string(edge_port);
  const std::string bytes = text_of({.target = treasure_list, .host = host}, edge_port);
  AttackerProcess attacker({.uid = nobody, .limit = 60s}, [at, &bytes](const Say& say) {
    for (;;) say(ask_at_once(at, bytes, 50));
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(attacker.line(), "50 times 401 ");
  // Each child is a process that the agent has not seen before.
  const std::uint16_t port = edge_port;
  for (int i = 0; i < 5; ++i) {
    const Answer read = parse_answer(run_as({.uid = 0}, [port] {
      return ask_raw(port, {.target = treasure_list + "&resourceVersion=0"});
    }));
    EXPECT_EQ(read.status, 200) << "process " << i;
  }
}

// The kubelet sends requests that a pod's manifest defines, as root: probes and lifecycle hooks.
TEST_F(Attack, ProbesAndHooksOfAPodAreNotTheNode) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  for (const std::string agent : {"kube-probe/1.32", "kube-lifecycle/1.32", "kube-probe/"}) {
    const Answer read = ask(edge_port, {.target = treasure_list, .user_agent = agent});
    EXPECT_TRUE(read.refused()) << agent << ": " << read.status;
    EXPECT_FALSE(read.has(treasure)) << agent;
    const Answer page =
        ask(admin_port, {.target = "/v1/objects?resource=secrets", .user_agent = agent});
    EXPECT_FALSE(page.served()) << agent << " at the admin listener";
    EXPECT_TRUE(ask(admin_port, {.target = "/healthz", .user_agent = agent}).served());
  }
}

}  // namespace
}  // namespace holdfast::attack
