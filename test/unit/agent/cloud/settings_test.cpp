#include "agent/cloud/settings.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;

// Parses the flags as main() does and derives the plan from them.
Result<CloudPlan> plan(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "holdfast-cloud");
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  const auto parsed = options.parse(static_cast<int>(flags.size()), flags.data());
  if (!parsed) return fail(parsed.error());
  return plan_of(settings);
}

TEST(CloudSettings, DefaultsAreUpstreams) {
  const auto found = plan({});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rules.monitor_period, 5s);
  EXPECT_EQ(found->rules.monitor_grace, 50s);
  EXPECT_EQ(found->rules.startup_grace, 60s);
  EXPECT_EQ(found->rules.pod_eviction_timeout, 5min);
  EXPECT_EQ(found->rules.eviction_rate, 0.1F);
  EXPECT_EQ(found->rules.secondary_eviction_rate, 0.01F);
  EXPECT_EQ(found->rules.large_cluster_size, 50u);
  EXPECT_EQ(found->rules.unhealthy_zone_threshold, 0.55F);
  EXPECT_TRUE(found->rules.taint_based_evictions);
  EXPECT_EQ(found->rules.autonomy, lifecycle::AutonomyMode::withhold);
  EXPECT_TRUE(found->enabled.node_lifecycle && found->enabled.taint_eviction);
  EXPECT_FALSE(found->enabled.pod_binding);
  EXPECT_EQ(found->rules.eviction_mode, lifecycle::EvictionMode::remove);
  EXPECT_EQ(found->rules.eviction_deadline, 10min);
  EXPECT_TRUE(found->rules.out_of_service);
  EXPECT_FALSE(found->rules.ask_provider);
}

// Beyond the rules, only the request rates, the address and the Lease's name differ from upstream.
TEST(CloudSettings, FourDefaultsAreOurOwn) {
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  const char* const words[] = {"holdfast-cloud"};
  ASSERT_TRUE(options.parse(1, words));
  EXPECT_EQ(settings.requests.qps, 1000.0);
  EXPECT_EQ(settings.requests.burst, 2000);
  EXPECT_EQ(settings.endpoints.bind_address, "127.0.0.1");
  EXPECT_EQ(settings.leader.resource_name, "holdfast-cloud");

  EXPECT_EQ(settings.endpoints.secure_port, 10257);
  EXPECT_TRUE(settings.leader.elect);
  EXPECT_EQ(settings.leader.lease_duration, 15s);
  EXPECT_EQ(settings.leader.renew_deadline, 10s);
  EXPECT_EQ(settings.leader.retry_period, 2s);
  EXPECT_EQ(settings.leader.resource_lock, "leases");
  EXPECT_EQ(settings.leader.resource_namespace, "kube-system");
}

TEST(CloudSettings, PodBindingGoesWithOpenYurtsModeOrByName) {
  EXPECT_TRUE(plan({"--autonomy-mode=openyurt"})->enabled.pod_binding);
  EXPECT_FALSE(plan({"--autonomy-mode=openyurt", "--controllers=*,-pod-binding-controller"})
                   ->enabled.pod_binding);
  for (const char* name : {"pod-binding", "pod-binding-controller", "podbinding"}) {
    const std::string flag = std::string("--controllers=") + name;
    const auto alone = plan({flag.c_str()});
    ASSERT_TRUE(alone);
    EXPECT_TRUE(alone->enabled.pod_binding);
    EXPECT_FALSE(alone->enabled.node_lifecycle || alone->enabled.taint_eviction);
  }
}

TEST(CloudSettings, EvictionModeAndProvider) {
  const auto found =
      plan({"--eviction-mode=evict", "--eviction-deadline=0s", "--node-exists-url=http://p/{name}",
            "--feature-gates=NodeOutOfServiceVolumeDetach=false"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rules.eviction_mode, lifecycle::EvictionMode::evict);
  EXPECT_EQ(found->rules.eviction_deadline, 0s);
  EXPECT_TRUE(found->rules.ask_provider);
  EXPECT_FALSE(found->rules.out_of_service);
}

TEST(CloudSettings, FlagsReachTheRules) {
  const auto found = plan({"--node-monitor-grace-period=8s", "--node-lease-duration=8s",
                           "--node-monitor-period=1s", "--node-eviction-rate=2",
                           "--enable-taint-manager=false", "--autonomy-mode=openyurt",
                           "--feature-gates=LegacyNodeRoleBehavior=true,NodeLease=false",
                           "--controllers=*,-taint-eviction-controller"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rules.monitor_grace, 8s);
  EXPECT_EQ(found->rules.monitor_period, 1s);
  EXPECT_EQ(found->rules.eviction_rate, 2.0F);
  EXPECT_FALSE(found->rules.taint_based_evictions);
  EXPECT_EQ(found->rules.autonomy, lifecycle::AutonomyMode::openyurt);
  EXPECT_TRUE(found->rules.legacy_node_role);
  EXPECT_FALSE(found->rules.node_leases);
  EXPECT_TRUE(found->enabled.node_lifecycle);
  EXPECT_FALSE(found->enabled.taint_eviction);
}

// Each historic behaviour has its flag.
TEST(CloudSettings, HistoryHasItsFlags) {
  const auto separate = plan({"--feature-gates=TaintBasedEvictions=false"});
  ASSERT_TRUE(separate);
  EXPECT_FALSE(separate->rules.taint_based_evictions);
  EXPECT_TRUE(separate->enabled.taint_eviction) << "the taints of others still evict";
  EXPECT_FALSE(plan({"--enable-taint-manager=false"})->enabled.taint_eviction);
  const auto classic = plan({"--autonomy-mode=openyurt-classic"});
  ASSERT_TRUE(classic);
  EXPECT_EQ(classic->rules.autonomy, lifecycle::AutonomyMode::openyurt_classic);
  EXPECT_FALSE(classic->enabled.pod_binding);
  const auto old = plan({"--eviction-timers-outlive-taints",
                         "--eviction-timers-outlive-endless-tolerations", "--evicted-names-linger",
                         "--controllers=*,scheduler", "--scheduler-pressure-predicates"});
  ASSERT_TRUE(old);
  EXPECT_TRUE(old->rules.timers_outlive_taints);
  EXPECT_FALSE(old->rules.endless_toleration_cancels);
  EXPECT_TRUE(old->rules.finished_evictions_linger);
  EXPECT_TRUE(old->scheduler->plugins.pressure_predicates);
  const auto today = plan({"--controllers=*,scheduler"});
  EXPECT_FALSE(today->rules.timers_outlive_taints);
  EXPECT_TRUE(today->rules.endless_toleration_cancels);
  EXPECT_FALSE(today->rules.finished_evictions_linger);
  EXPECT_FALSE(today->scheduler->plugins.pressure_predicates);
}

TEST(CloudSettings, OddButConsistentOnesAreAccepted) {
  const std::vector<std::vector<const char*>> rows = {
      {"--node-monitor-grace-period=40s"},
      {"--node-monitor-grace-period=10s", "--feature-gates=NodeLease=false"},
      {"--bind-address=0.0.0.0", "--allow-insecure-bind"},
      {"--bind-address=0.0.0.0", "--tls-cert-file=a", "--tls-private-key-file=b"},
      {"--bind-address=::1"},
      {"--bind-address=0.0.0.0", "--secure-port=0"},
      {"--leader-elect=false"},
      {"--kube-api-qps=0.5", "--kube-api-burst=1"},
      {"--kube-api-content-type=application/json"},
  };
  for (const auto& row : rows) {
    const auto found = plan(row);
    EXPECT_TRUE(found) << row.front() << ": " << found.error().what;
  }
}

// The command line that kubeadm gives to kube-controller-manager.
TEST(CloudSettings, FlagsWithoutEffectAreNamedAndNoError) {
  const auto kubeadm =
      plan({"--allocate-node-cidrs=true",
            "--authentication-kubeconfig=/etc/kubernetes/controller-manager.conf",
            "--authorization-kubeconfig=/etc/kubernetes/controller-manager.conf",
            "--bind-address=127.0.0.1", "--client-ca-file=/etc/kubernetes/pki/ca.crt",
            "--cluster-cidr=10.244.0.0/16", "--cluster-name=kubernetes",
            "--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt",
            "--cluster-signing-key-file=/etc/kubernetes/pki/ca.key",
            "--controllers=*,bootstrapsigner,tokencleaner",
            "--kubeconfig=/etc/kubernetes/controller-manager.conf", "--leader-elect=true",
            "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
            "--root-ca-file=/etc/kubernetes/pki/ca.crt",
            "--service-account-private-key-file=/etc/kubernetes/pki/sa.key",
            "--service-cluster-ip-range=10.96.0.0/12", "--use-service-account-credentials=true"});
  ASSERT_TRUE(kubeadm) << kubeadm.error().what;
  ASSERT_EQ(kubeadm->warnings.size(), 2u);
  EXPECT_EQ(kubeadm->warnings[0],
            "flags of kube-controller-manager without effect here: --allocate-node-cidrs, "
            "--authentication-kubeconfig, --authorization-kubeconfig, --client-ca-file, "
            "--cluster-cidr, --cluster-name, --cluster-signing-cert-file, "
            "--cluster-signing-key-file, --requestheader-client-ca-file, --root-ca-file, "
            "--service-account-private-key-file, --service-cluster-ip-range, "
            "--use-service-account-credentials");
  for (const char* verbose : {"-v=4", "--v=4", "--profiling=false", "--profiling"}) {
    const auto found = plan({verbose});
    EXPECT_TRUE(found) << verbose << ": " << found.error().what;
  }
  const auto master = plan({"--master=https://x"});
  ASSERT_FALSE(master);
  EXPECT_EQ(master.error().what, "--master: name the API server in --kubeconfig");
  EXPECT_FALSE(plan({"--no-such-flag"}));
}

// kubeadm of Kubernetes 1.18 to 1.23 closes the insecure port.
TEST(CloudSettings, FlagsOfOlderReleasesAreAccepted) {
  const auto older = plan({"--port=0", "--address=127.0.0.1", "--leader-migration-config=/f.yaml",
                           "--log-json-split-stream"});
  ASSERT_TRUE(older) << older.error().what;
  ASSERT_EQ(older->warnings.size(), 1u);
  EXPECT_EQ(older->warnings[0],
            "flags of kube-controller-manager without effect here: --address, "
            "--leader-migration-config, --log-json-split-stream, --port");
}

// kubeadm's default value names controllers that kube-controller-manager goes on running.
TEST(CloudSettings, ControllersThatAreElsewhereAreNamedAndNoError) {
  const auto kubeadm = plan({"--controllers=*,bootstrapsigner,tokencleaner,-ttl"});
  ASSERT_TRUE(kubeadm);
  EXPECT_TRUE(kubeadm->enabled.node_lifecycle);
  EXPECT_TRUE(kubeadm->enabled.taint_eviction);
  EXPECT_EQ(kubeadm->warnings,
            std::vector<std::string>{"--controllers: not in this program, kube-controller-manager "
                                     "runs them: bootstrapsigner, tokencleaner"});
  EXPECT_EQ(plan({"--controllers=*,-ttl"})->warnings, std::vector<std::string>());
}

TEST(CloudSettings, OneControllerTakesTheOtherWithIt) {
  const auto found = plan({"--controllers=node-lifecycle"});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->enabled.taint_eviction);
  EXPECT_FALSE(plan(
      {"--controllers=*,-nodelifecycle", "--feature-gates=SeparateTaintEvictionController=false"}));
}

TEST(CloudSettings, ContradictionsAreRefusedByName) {
  const struct {
    std::vector<const char*> flags;
    std::string named;
  } rows[] = {
      {{"--node-eviction-rate=-1"}, "--node-eviction-rate"},
      {{"--node-eviction-rate=nan"}, "node-eviction-rate"},
      {{"--secondary-node-eviction-rate=1"}, "--secondary-node-eviction-rate"},
      {{"--node-monitor-period=0s"}, "--node-monitor-period"},
      {{"--node-monitor-grace-period=4s"}, "--node-monitor-grace-period"},
      {{"--node-monitor-grace-period=39s"}, "--node-lease-duration 40s"},
      {{"--node-lease-duration=51s"}, "--node-lease-duration"},
      {{"--node-lease-duration=0s"}, "--node-lease-duration"},
      {{"--kube-api-content-type=text/html"}, "--kube-api-content-type"},
      {{"--kube-api-qps=-1"}, "--kube-api-qps"},
      {{"--kube-api-qps=0"}, "--kube-api-qps"},
      {{"--kube-api-burst=0"}, "--kube-api-burst"},
      {{"--leader-elect-resource-lock=endpoints"}, "--leader-elect-resource-lock"},
      {{"--leader-elect-resource-name="}, "--leader-elect-resource-name"},
      {{"--leader-elect-resource-namespace="}, "--leader-elect-resource-namespace"},
      {{"--leader-elect-lease-duration=10s"}, "--leader-elect-lease-duration"},
      {{"--leader-elect-renew-deadline=2s"}, "--leader-elect-renew-deadline"},
      {{"--leader-elect-retry-period=0s"}, "--leader-elect-retry-period"},
      {{"--secure-port=65536"}, "--secure-port"},
      {{"--bind-address=localhost"}, "--bind-address"},
      {{"--bind-address=0.0.0.0"}, "--allow-insecure-bind"},
      {{"--tls-cert-file=a"}, "--tls-private-key-file"},
      {{"--node-monitor-grace-period=soon"}, "node-monitor-grace-period"},
      {{"--unhealthy-zone-threshold=1.5"}, "--unhealthy-zone-threshold"},
      {{"--large-cluster-size-threshold=-1"}, "--large-cluster-size-threshold"},
      {{"--autonomy-mode=maybe"}, "--autonomy-mode"},
      {{"--controllers=descheduler"}, "descheduler"},
      {{"--controllers=bootstrapsigner"}, "--controllers"},
      {{"--controllers=-node-lifecycle"}, "--controllers"},
      {{"--feature-gates=Wings=true"}, "Wings"},
      {{"--feature-gates=NodeLease=yes"}, "NodeLease"},
      {{"--concurrent-node-updates=0"}, "--concurrent-node-updates"},
      {{"--heap-max=1000000"}, "--heap-max"},
      {{"--eviction-mode=ask"}, "--eviction-mode"},
      {{"--eviction-mode=evict", "--enable-taint-manager=false"}, "--enable-taint-manager"},
      {{"--eviction-deadline=-1s"}, "--eviction-deadline"},
      {{"--eviction-deadline=9000h"}, "--eviction-deadline"},
      {{"--autonomy-mode=off", "--controllers=*,pod-binding"}, "--autonomy-mode"},
      {{"--node-exists-url=http://p/{name}", "--controllers=taint-eviction"}, "--node-exists-url"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.flags.front());
    const auto found = plan(row.flags);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().what.find(row.named), std::string::npos) << found.error().what;
  }
}

}  // namespace
}  // namespace holdfast::agent
