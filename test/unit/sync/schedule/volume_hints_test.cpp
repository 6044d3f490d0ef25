// Which events may help a pod that a filter for volumes has rejected.

#include "sync/schedule/names.h"
#include "sync/schedule/queue/hints.h"
#include "test/unit/sync/schedule/storage_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_pod;
using test::make_volume;

struct HintCase {
  std::string what;
  std::string_view plugin;
  Event event;
  Hint hint;
};

class VolumeHints : public testing::Test {
 protected:
  PodRef user(const std::string& name, const std::string& claim) {
    Pod pod = make_pod(name, 0, "100", "n");
    test::use_claim(pod, claim);
    return view_of(pod, symbols_);
  }
  void expect_all(const std::vector<HintCase>& cases) {
    Pod pod = make_pod("p", 0, "100");
    test::use_claim(pod, "c");
    const PodRef view = view_of(pod, symbols_);
    for (const HintCase& each : cases) {
      EXPECT_EQ(hints_.ask(each.plugin, *view, each.event), each.hint) << each.what;
      EXPECT_EQ(hints_.registered(each.event), true) << each.what;
    }
  }
  static Event claim(const std::string& name) {
    return claim_changed(nullptr, read_claim(test::make_claim(name)));
  }

  Symbols symbols_;
  PluginHints hints_{symbols_};
};

TEST_F(VolumeHints, ClaimsHelpTheirOwnPods) {
  std::vector<HintCase> cases;
  for (const auto plugin : {plugin_volume_binding, plugin_volume_zone, plugin_volume_limits,
                            plugin_volume_restrictions}) {
    cases.push_back({"the pod's own claim", plugin, claim("c"), Hint::queue});
    cases.push_back({"another claim", plugin, claim("d"), Hint::skip});
  }
  PersistentVolumeClaim elsewhere = test::make_claim("c");
  elsewhere.metadata.namespace_name = "elsewhere";
  cases.push_back({"a claim of another namespace", plugin_volume_binding,
                   claim_changed(nullptr, read_claim(elsewhere)), Hint::skip});
  cases.push_back({"a claim and another plugin", plugin_fit, claim("c"), Hint::unrelated});
  expect_all(cases);
}

TEST_F(VolumeHints, ADeletedPodHelpsIfItUsedTheSameClaimOrAnyVolume) {
  expect_all({
      {"the user of the claim", plugin_volume_restrictions, assigned_pod_deleted(user("u", "c")),
       Hint::queue},
      {"the user of another claim", plugin_volume_restrictions,
       assigned_pod_deleted(user("u", "d")), Hint::skip},
      {"any user of a claim", plugin_volume_limits, assigned_pod_deleted(user("u", "d")),
       Hint::queue},
      {"a pod without claims", plugin_volume_limits,
       assigned_pod_deleted(view_of(make_pod("u", 0, "1", "n"), symbols_)), Hint::skip},
      {"a pod and the place of volumes", plugin_volume_binding,
       assigned_pod_deleted(user("u", "c")), Hint::unrelated},
  });
}

TEST_F(VolumeHints, VolumesClassesAndLimits) {
  const Volume before = read_volume(make_volume("pv"));
  PersistentVolume moved = make_volume("pv");
  moved.metadata.labels.set("topology.kubernetes.io/zone", "east");
  const auto volume_events = volume_changed(&before, read_volume(moved));
  ASSERT_EQ(volume_events.size(), 2u);
  EXPECT_EQ(volume_changed(&before, before).size(), 1u);
  expect_all({
      {"a volume", plugin_volume_binding, volume_events[0], Hint::queue},
      {"a volume", plugin_volume_zone, volume_events[0], Hint::unrelated},
      {"the zone of a volume", plugin_volume_zone, volume_events[1], Hint::queue},
  });

  const VolumeClass waiting = read_class(test::make_class("w", "WaitForFirstConsumer"));
  const VolumeClass at_once = read_class(test::make_class("n", "Immediate"));
  EXPECT_EQ(class_changed(nullptr, at_once).size(), 1u);
  EXPECT_TRUE(class_changed(&at_once, at_once).empty());
  const auto class_events = class_changed(nullptr, waiting);
  ASSERT_EQ(class_events.size(), 2u);
  expect_all({
      {"a class", plugin_volume_binding, class_events[0], Hint::queue},
      {"a class whose volumes wait", plugin_volume_zone, class_events[1], Hint::queue},
  });

  const VolumeLimits few{{"d", 1}};
  const VolumeLimits many{{"d", 2}};
  EXPECT_TRUE(limits_changed(&many, few).empty());
  EXPECT_EQ(limits_changed(&many, {}).size(), 1u) << "without a limit";
  expect_all({
      {"a raised limit", plugin_volume_limits, limits_changed(&few, many).front(), Hint::queue},
      {"everything is known", plugin_volume_binding, storage_known(), Hint::queue},
  });
}

TEST_F(VolumeHints, ARunningPodThatShrinksFreesWhatItReleases) {
  const PodRef large = view_of(make_pod("u", 0, "2000", "n"), symbols_);
  const PodRef small = view_of(make_pod("u", 0, "1000", "n"), symbols_);
  EXPECT_TRUE(assigned_pod_changed(small, large).empty());
  const auto events = assigned_pod_changed(large, small);
  ASSERT_EQ(events.size(), 1u);
  expect_all({{"less cpu", plugin_fit, events[0], Hint::queue}});
  Pod other = make_pod("q", 0, "0");
  EXPECT_EQ(hints_.ask(plugin_fit, *view_of(other, symbols_), events[0]), Hint::skip);
}

}  // namespace
}  // namespace holdfast::sync::schedule
