// Manifests as they are created in a cluster of plain processes.

#include "agent/lab/run/manifests.h"

namespace holdfast::agent::lab::run {
namespace {

TEST(LabManifests, StayAsTheyAreExceptForPods) {
  const std::string text =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting, namespace: shop}\n"
      "data: {port: \"8080\", on: 'yes', text: still here}\n"
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"
      "spec:\n  replicas: 2\n  template:\n    spec:\n"
      "      terminationGracePeriodSeconds: 60\n"
      "      tolerations:\n"
      "      - {key: node.kubernetes.io/unreachable, effect: NoExecute, tolerationSeconds: 40}\n"
      "      containers:\n      - {name: main, image: nginx, args: [-g]}\n"
      "      - {name: side, command: [/bin/cat], stdin: true}\n"
      "---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
  Manifests made;
  const Status added =
      add_manifests("web.yaml", text, {.speed = 20, .default_toleration = 15}, made);
  ASSERT_TRUE(added) << added.error().what;
  ASSERT_EQ(made.objects.size(), 3u);
  EXPECT_EQ(made.objects[0].kind, "Namespace") << "namespaces come first";
  EXPECT_EQ(made.objects[1].place, "web.yaml:1");
  EXPECT_EQ(made.objects[1].space, "shop");
  EXPECT_EQ(made.objects[1].body,
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"greeting",)"
            R"("namespace":"shop"},"data":{"port":"8080","on":"yes","text":"still here"}})");
  EXPECT_EQ(
      made.objects[2].body,
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",)"
      R"("namespace":"shop"},"spec":{"replicas":2,"template":{"spec":{)"
      R"("terminationGracePeriodSeconds":3,"tolerations":[)"
      R"({"key":"node.kubernetes.io/unreachable","effect":"NoExecute","tolerationSeconds":2},)"
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
      R"("tolerationSeconds":15}],"containers":[)"
      R"({"name":"main","image":"nginx","command":["/bin/sleep","1000000000"]},)"
      R"({"name":"side","command":["/bin/cat"],"stdin":true}]}}}})");
  const std::vector<std::string> notes = {
      "web.yaml:6: container main has no command: it only sleeps, because its image is not run"};
  EXPECT_EQ(made.notes, notes);
}

TEST(LabManifests, AContainerWithoutACommandLosesItsArgsAndProbes) {
  const std::string rest =
      "args: [a], livenessProbe: {}, readinessProbe: {}, startupProbe: {}, image: i}\n";
  const std::string text =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
      "  tolerations: [{operator: Exists}]\n"
      "  initContainers:\n  - {name: first, " +
      rest + "  - {name: second, command: [c], " + rest + "  containers:\n  - {name: main, " +
      rest + "  - {name: side, command: [c], " + rest;
  Manifests made;
  const Status added = add_manifests("p.yaml", text, {}, made);
  ASSERT_TRUE(added) << added.error().what;
  ASSERT_EQ(made.objects.size(), 1u);
  const std::string kept =
      R"("command":["c"],"args":["a"],"livenessProbe":{},"readinessProbe":{},"startupProbe":{},)"
      R"("image":"i"}])";
  EXPECT_EQ(made.objects[0].body,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)"
            R"("tolerations":[{"operator":"Exists"}],"initContainers":[)"
            R"({"name":"first","image":"i","command":["/bin/true"]},{"name":"second",)" +
                kept +
                R"(,"containers":[)"
                R"({"name":"main","image":"i","command":["/bin/sleep","1000000000"]},)"
                R"({"name":"side",)" +
                kept + R"(,"terminationGracePeriodSeconds":30}})");
  const std::vector<std::string> notes = {
      "p.yaml:1: container first has no command: it only succeeds, because its image is not run",
      "p.yaml:1: container main has no command: it only sleeps, because its image is not run"};
  EXPECT_EQ(made.notes, notes);
}

TEST(LabManifests, AreConfinedInAClusterOfOthers) {
  const std::string text =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n"
      "spec: {containers: [{name: main, image: x, command: [a]}], tolerations: [{operator: "
      "Exists}],"
      " terminationGracePeriodSeconds: 1}\n";
  ManifestChanges changes;
  changes.image = "local";
  changes.guest = guest::Guest{.run = "lab-x7k2p", .owner = {}};
  Manifests made;
  const Status added = add_manifests("web.yaml", text, changes, made);
  ASSERT_TRUE(added) << added.error().what;
  EXPECT_EQ(made.spaces, (std::set<std::string>{"default", "shop"}));
  ASSERT_EQ(made.objects.size(), 2u) << "the run creates the namespaces itself";
  EXPECT_EQ(made.objects[0].space, "lab-x7k2p-default");
  EXPECT_EQ(made.objects[0].body, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c",)"
                                  R"("namespace":"lab-x7k2p-default"}})");
  EXPECT_EQ(made.objects[1].body,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
            R"("namespace":"lab-x7k2p-shop","labels":{"holdfast.dev/lab-run":"lab-x7k2p"}},)"
            R"("spec":{"containers":[{"name":"main","image":"local","command":["a"]}],)"
            R"("tolerations":[{"operator":"Exists"},{"key":"holdfast.dev/lab-run",)"
            R"("operator":"Equal","value":"lab-x7k2p","effect":"NoSchedule"}],)"
            R"("terminationGracePeriodSeconds":1,)"
            R"("nodeSelector":{"holdfast.dev/lab-run":"lab-x7k2p"}}})");
}

TEST(LabManifests, NameTheLineOfWhatIsWrong) {
  struct Case {
    std::string text;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"kind: Pod\nmetadata: {name: a}\n", "web.yaml:1: apiVersion is missing"},
      {"apiVersion: v1\nkind: Pod\n", "web.yaml:1: metadata.name is missing"},
      {"kind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- 7\n",
       "web.yaml:4: this is no Kubernetes object"},
      {"a: [\n", "web.yaml:2:1: end of sequence flow not found"}};
  for (const Case& each : cases) {
    Manifests made;
    const Status added = add_manifests("web.yaml", each.text, {}, made);
    ASSERT_FALSE(added) << each.text;
    EXPECT_EQ(added.error().code, Errc::invalid);
    EXPECT_EQ(added.error().what, each.error);
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::run
