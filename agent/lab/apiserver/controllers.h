// The built-in controllers: Deployments, ReplicaSets, DaemonSets, PodDisruptionBudgets, pod garbage
// collection, owner references, namespaces and default service accounts. They read the registry,
// ask the rules in agent/lab/loops, and write the results.
// One pass() runs every controller once. Its changes may cause work for the next pass. Threading:
// the loop's thread only.

#pragma once

#include <string_view>
#include <vector>

#include "agent/lab/apiserver/editor.h"

namespace holdfast::agent::lab {

class Controllers {
 public:
  // `editor` is borrowed and outlives it.
  explicit Controllers(Editor& editor) : editor_(editor) {}

  // Whether a change may cause work for the controllers. Heartbeats and Events do not.
  [[nodiscard]] static bool may_cause_work(const Change& change);

  // Does all work that is due. Failed writes are logged and retried by a later pass.
  void pass();

  // Creates the namespaces that every cluster has.
  void create_namespaces();

 private:
  void roll_deployments();
  void fill_replica_sets();
  void fill_daemon_sets();
  void update_budgets();
  void collect_pod_garbage();
  void collect_orphans();
  void empty_namespaces();
  void finish_namespace(const StoredPtr& space);
  void create_service_accounts();

  [[nodiscard]] std::vector<StoredPtr> list(std::string_view group, std::string_view kind,
                                            std::string_view name_space = {});
  void create(std::string_view group, std::string_view kind, boost::json::object object);
  void remove(std::string_view group, std::string_view kind, const boost::json::object& object,
              const DeleteOptions& options = {});
  void set_status(std::string_view group, std::string_view kind, const boost::json::object& object,
                  const boost::json::object& status);

  Editor& editor_;
};

}  // namespace holdfast::agent::lab
