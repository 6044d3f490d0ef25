// The built-in controllers: Deployments, ReplicaSets, DaemonSets, StatefulSets, Jobs,
// PodDisruptionBudgets, pod garbage collection, owner references, namespaces and default service
// accounts. They read the registry, ask the rules in agent/lab/loops, and write the results. One
// pass() runs every controller once. Its changes may cause work for the next pass. Threading: the
// loop's thread only.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/apiserver/editor.h"
#include "agent/lab/loops/jobs.h"
#include "agent/lab/loops/stateful.h"

namespace holdfast::agent::lab {

class Controllers {
 public:
  // `editor` is borrowed and outlives it.
  explicit Controllers(Editor& editor) : editor_(editor) {}

  // Publishes the CA's certificate in every namespace, as ConfigMap kube-root-ca.crt.
  void publish_root_ca(std::string pem) { root_ca_ = std::move(pem); }

  // Whether a change may cause work for the controllers. Heartbeats and Events do not.
  [[nodiscard]] static bool may_cause_work(const Change& change);

  // Does all work that is due. Failed writes are logged and retried by a later pass.
  void pass();

  // Whether something is due now although nothing has changed: a Job's deadline or back-off.
  [[nodiscard]] bool is_due() const { return due_ && *due_ <= editor_.now(); }

  // Creates the namespaces that every cluster has.
  void create_namespaces();
  // Creates the roles and bindings that every cluster with RBAC has, and adds the rules that they
  // lack.
  void create_roles();

 private:
  void roll_deployments();
  void fill_replica_sets();
  void fill_daemon_sets();
  void fill_stateful_sets();
  void perform(const boost::json::object& set, StatefulPlan plan);
  void run_jobs();
  void perform(const boost::json::object& job, JobPlan plan);
  void release_pods();
  void aggregate_roles();
  void update_budgets();
  void collect_pod_garbage();
  void collect_orphans();
  void empty_namespaces();
  void finish_namespace(const StoredPtr& space);
  void empty_definitions();
  bool remove_all(const sync::printing::Resource& resource, std::string_view name_space);
  void create_service_accounts();
  void create_root_ca(std::string_view name_space);

  [[nodiscard]] std::vector<StoredPtr> list(std::string_view group, std::string_view kind,
                                            std::string_view name_space = {});
  void create(std::string_view group, std::string_view kind, boost::json::object object);
  void remove(std::string_view group, std::string_view kind, const boost::json::object& object,
              const DeleteOptions& options = {});
  void remove(const sync::printing::Resource& resource, const boost::json::object& object,
              const DeleteOptions& options);
  void set_status(std::string_view group, std::string_view kind, const boost::json::object& object,
                  const boost::json::object& status);

  Editor& editor_;
  std::optional<WallTime> due_;                // of the last pass
  std::map<std::string, JobBackoff> backoff_;  // of Jobs, by uid
  std::string root_ca_;  // "": none
};

}  // namespace holdfast::agent::lab
