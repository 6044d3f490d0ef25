#include "sync/lifecycle/taints.h"

#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

Options in_two_patches() {
  Options options;
  options.one_patch_per_swap = false;
  return options;
}

NodeFacts tainted(std::string_view ready, std::vector<Taint> taints) {
  NodeFacts node = make_facts("a", ready);
  node.taints = std::move(taints);
  return node;
}

TEST(Taints, ConditionsAndCordonAskForNoSchedule) {
  NodeFacts node = make_facts("a", "Unknown");
  node.unschedulable = true;
  node.condition(ConditionType::disk).status = Truth::yes;
  node.condition(ConditionType::memory).status = Truth::unknown;
  const std::vector<PatchTaints> expect{
      PatchTaints{"a",
                  "uid-a",
                  TaintCause::conditions,
                  {make_taint(objects::taint_unreachable, objects::no_schedule, wall),
                   make_taint(objects::taint_disk_pressure, objects::no_schedule, wall),
                   make_taint(objects::taint_unschedulable, objects::no_schedule, wall)},
                  {}}};
  EXPECT_EQ(reconcile_no_schedule(wall, node, Options{}), expect);
}

TEST(Taints, ReconcileIsOnePatchOrTwo) {
  const NodeFacts node =
      tainted("Unknown", {make_taint(objects::taint_not_ready, objects::no_schedule, wall),
                          make_taint("foreign", objects::no_schedule, wall)});
  EXPECT_EQ(describe(reconcile_no_schedule(wall, node, Options{})),
            Lines{"taint a +node.kubernetes.io/unreachable:NoSchedule "
                  "-node.kubernetes.io/not-ready:NoSchedule conditions"});
  EXPECT_EQ(describe(reconcile_no_schedule(wall, node, in_two_patches())),
            (Lines{"taint a +node.kubernetes.io/unreachable:NoSchedule conditions",
                   "taint a -node.kubernetes.io/not-ready:NoSchedule conditions"}));
}

TEST(Taints, NothingDiffersNothingIsWritten) {
  Taint valued = make_taint(objects::taint_unreachable, objects::no_schedule, wall);
  valued.value = "by hand";
  EXPECT_EQ(reconcile_no_schedule(wall, tainted("Unknown", {valued}), Options{}),
            std::vector<PatchTaints>{});
  EXPECT_EQ(reconcile_no_schedule(wall, make_facts("a", ""), Options{}),
            std::vector<PatchTaints>{});
}

TEST(Taints, NoExecuteSwapsAndGoes) {
  const NodeFacts node =
      tainted("Unknown", {make_taint(objects::taint_not_ready, objects::no_execute, wall),
                          make_taint(objects::taint_unreachable, objects::no_execute, wall)});
  EXPECT_EQ(describe(no_execute_taint(wall, node, Truth::unknown, TaintCause::swap, Options{})),
            Lines{"taint a +node.kubernetes.io/unreachable:NoExecute "
                  "-node.kubernetes.io/not-ready:NoExecute swap"});
  EXPECT_EQ(describe(remove_no_execute(node, Options{})),
            Lines{"taint a -node.kubernetes.io/unreachable:NoExecute "
                  "-node.kubernetes.io/not-ready:NoExecute recovered"});
  EXPECT_EQ(remove_no_execute(node, in_two_patches()).size(), 2u);
  EXPECT_EQ(remove_no_execute(make_facts("a", "True"), Options{}), std::vector<PatchTaints>{});
}

TEST(Taints, APatchIsAppliedToWhatTheNodeHasThen) {
  const Taint foreign = make_taint("foreign", objects::no_execute, wall);
  const Taint old = make_taint(objects::taint_unreachable, objects::no_execute, wall);
  const Taint fresh =
      make_taint(objects::taint_unreachable, objects::no_execute, wall + std::chrono::hours(1));
  const TaintRef ref{std::string(objects::taint_unreachable), std::string(objects::no_execute)};
  const PatchTaints add{"a", "", TaintCause::queued, {fresh}, {}};
  const PatchTaints remove{"a", "", TaintCause::recovered, {}, {ref}};
  using List = std::vector<Taint>;
  EXPECT_EQ(taints_after({foreign}, add), (List{foreign, fresh}));
  EXPECT_EQ(taints_after({old, foreign}, add), (List{fresh, foreign}));
  EXPECT_EQ(taints_after({old, foreign}, remove), List{foreign});
  EXPECT_EQ(taints_after({foreign}, remove), List{foreign});
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
