// PodList: which lists count as complete, and what pods refer to.

#include "agent/node/pod_list.h"

#include <gtest/gtest.h>

namespace holdfast::agent::node {
namespace {

std::string pod(const std::string& name, const std::string& version,
                const std::string& spec = "{}") {
  return R"({"metadata":{"namespace":"a","name":")" + name + R"(","uid":"u","resourceVersion":")" +
         version + R"("},"spec":)" + spec + "}";
}

class PodListTest : public testing::Test {
 protected:
  // The known pods, "p@1 q@2", or "?" before the first list.
  [[nodiscard]] std::string known() const {
    const sync::runtime::DesiredPods desired = list.desired();
    const auto* complete = std::get_if<sync::runtime::CompletePods>(&desired);
    if (complete == nullptr) return "?";
    std::string text;
    for (const auto& each : complete->pods) {
      text +=
          (text.empty() ? "" : " ") + each->metadata.name + "@" + each->metadata.resource_version;
    }
    return text;
  }
  void event(sync::wire::WatchEvent::Type type, const std::string& object) {
    list.apply({type, object, "9"});
  }

  int changes = 0;
  PodList list{[this] { ++changes; }};
};

using Type = sync::wire::WatchEvent::Type;

TEST_F(PodListTest, NothingIsKnownBeforeTheFirstList) {
  EXPECT_EQ(known(), "?");
  list.replace({}, "1", {});
  EXPECT_EQ(known(), "");
  EXPECT_EQ(changes, 1);
}

TEST_F(PodListTest, FollowsListsAndEvents) {
  list.replace({pod("p", "1"), pod("q", "2")}, "2", {});
  EXPECT_EQ(known(), "p@1 q@2");
  event(Type::modified, pod("p", "3"));
  event(Type::added, pod("r", "4"));
  event(Type::deleted, pod("q", "5"));
  EXPECT_EQ(known(), "p@3 r@4");
  list.replace({pod("r", "4")}, "6", {});
  EXPECT_EQ(known(), "r@4");
}

TEST_F(PodListTest, APodThatCannotBeReadIsNotAPodThatIsGone) {
  list.replace({pod("p", "1"), pod("q", "2")}, "2", {});
  event(Type::modified, pod("q", "3", R"("no object")"));
  EXPECT_EQ(known(), "?");
  event(Type::modified, pod("q", "4"));
  EXPECT_EQ(known(), "p@1 q@4");
  event(Type::modified, pod("q", "5", R"("no object")"));
  event(Type::deleted, pod("q", "6", R"("no object")"));
  EXPECT_EQ(known(), "p@1");
}

TEST_F(PodListTest, AListThatCannotBeReadChangesNothing) {
  list.replace({pod("p", "1")}, "2", {});
  list.replace({"not JSON"}, "3", {});
  EXPECT_EQ(known(), "p@1");
}

TEST_F(PodListTest, NamesWhatThePodsReferTo) {
  const std::string env = R"({"containers":[{"name":"c","envFrom":[{"configMapRef":{"name":"m"}},)"
                          R"({"secretRef":{"name":"s"}}]}]})";
  list.replace({pod("p", "1", env), pod("q", "1", env)}, "2", {});
  EXPECT_EQ(list.references(),
            (sync::autonomy::NeededObjects{{"configmaps", "a", "m"}, {"secrets", "a", "s"}}));
  event(Type::deleted, pod("p", "3", env));
  event(Type::deleted, pod("q", "3", env));
  EXPECT_EQ(list.references(), sync::autonomy::NeededObjects{});
}

}  // namespace
}  // namespace holdfast::agent::node
