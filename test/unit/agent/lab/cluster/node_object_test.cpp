// The Node objects that the lab creates for its nodes.

#include "agent/lab/cluster/node_object.h"

namespace holdfast::agent::lab::cluster {
namespace {

TEST(LabNodeObject, HasWhatTheSiteSays) {
  Site site;
  site.name = "a";
  site.zone = "west";
  site.labels = {{"role", "cell"}};
  site.annotations = {{"node.beta.openyurt.io/autonomy", "true"}};
  site.taints = {{.key = "act", .value = "second", .effect = "NoSchedule"}};
  EXPECT_EQ(node_object(site, "a-2"),
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a-2","labels":{)"
            R"("kubernetes.io/hostname":"a-2","kubernetes.io/os":"linux",)"
            R"("topology.kubernetes.io/zone":"west","holdfast.io/site":"a","role":"cell"},)"
            R"("annotations":{"node.beta.openyurt.io/autonomy":"true"}},)"
            R"("spec":{"taints":[{"key":"act","value":"second","effect":"NoSchedule"}]}})");
}

TEST(LabNodeObject, KeepsOthersAwayInTheirCluster) {
  Site site;
  site.name = "a";
  site.zone = "west";
  const guest::Guest guest{.run = "lab-x7k2p", .owner = "o"};
  EXPECT_EQ(node_object(site, "lab-x7k2p-a-1", guest),
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"lab-x7k2p-a-1","labels":{)"
            R"("kubernetes.io/hostname":"lab-x7k2p-a-1","kubernetes.io/os":"linux",)"
            R"("topology.kubernetes.io/zone":"lab-x7k2p-west","holdfast.io/site":"a",)"
            R"("holdfast.dev/lab-run":"lab-x7k2p"},)"
            R"("annotations":{"holdfast.dev/lab-owner":"o"}},"spec":{"taints":[)"
            R"({"key":"holdfast.dev/lab-run","value":"lab-x7k2p","effect":"NoSchedule"}]}})");
}

}  // namespace
}  // namespace holdfast::agent::lab::cluster
