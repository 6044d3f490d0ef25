// The built-in controllers: they look at the registry, ask the rules in sync/apiserver/loops, and
// write down what those say. They make the lab's API server a small control plane.
//
// One pass() looks at everything once; what it changes may give the next pass something to do.

#pragma once

#include <string_view>
#include <vector>

#include "agent/lab/apiserver/editor.h"

namespace holdfast::agent::lab {

class Controllers {
 public:
  explicit Controllers(Editor& editor) : editor_(editor) {}

  // Whether a change may give them something to do; heartbeats do not.
  [[nodiscard]] static bool cares(const Change& change);

  // Does what is to do now. What fails is logged and tried again by a later pass.
  void pass();

  // Namespaces and service accounts that every cluster has.
  void make_namespaces();

 private:
  void roll_deployments();
  void fill_replica_sets();
  void fill_daemon_sets();
  void judge_budgets();
  void sweep_pods();
  void sweep_orphans();
  void empty_namespaces();
  void finish_namespace(const StoredPtr& space);
  void give_accounts();

  [[nodiscard]] std::vector<StoredPtr> list(std::string_view group, std::string_view kind,
                                            std::string_view name_space = {});
  void create(std::string_view group, std::string_view kind, boost::json::object object);
  void remove(std::string_view group, std::string_view kind, const boost::json::object& object,
              const sync::DeleteOptions& options = {});
  void set_status(std::string_view group, std::string_view kind, const boost::json::object& object,
                  const boost::json::object& status);

  Editor& editor_;
};

}  // namespace holdfast::agent::lab
