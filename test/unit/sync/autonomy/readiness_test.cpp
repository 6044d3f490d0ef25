// Which pods would start again without the API server, for different contents of the cache.

#include "sync/autonomy/readiness.h"

#include "sync/autonomy/readiness_images.h"
#include "sync/wire/codec.h"

namespace holdfast::sync::autonomy {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = WallTime(1'800'000'000s);

// The contents of a cache: objects by "resource/namespace/name"; "absent" for those that are known
// not to exist.
using Objects = std::map<std::string, std::string>;

ReadinessInput knowing(Objects objects) {
  objects.emplace("nodes//n", R"({"status":{"images":[{"names":["docker.io/library/i:1"]}]}})");
  ReadinessInput knowledge{.node_name = "n", .now = now};
  knowledge.find = [objects](const ObjectLookup& wanted) -> LookupResult {
    const std::string key = std::string(wanted.resource) + "/" +
                            std::string(wanted.namespace_name) + "/" + std::string(wanted.name);
    const auto found = objects.find(key);
    if (found == objects.end()) return {};
    if (found->second == "absent") return {.presence = Presence::absent};
    return {.presence = Presence::present, .object = wire::parse_json(found->second).value()};
  };
  return knowledge;
}

json::value pod_with(const std::string& spec, const std::string& rest = "") {
  return wire::parse_json(R"({"metadata":{"namespace":"a","name":"p","uid":"u1"},"spec":{)" + spec +
                          "}" + rest + "}")
      .value();
}

std::string listed(const std::vector<Reason>& reasons) {
  std::string shown;
  for (const Reason& reason : reasons) {
    shown +=
        (shown.empty() ? "" : "; ") + std::string(to_string(reason.obstacle)) + ": " + reason.text;
  }
  return shown;
}

std::string judged(const json::value& pod, const ReadinessInput& knowledge) {
  const auto readiness = check_readiness(pod, knowledge);
  if (!readiness) return readiness.error().what;
  if (!*readiness) return "not judged";
  const std::string warnings = listed((*readiness)->warnings);
  return ((*readiness)->ready() ? "ready" : listed((*readiness)->reasons)) +
         (warnings.empty() ? "" : " (" + warnings + ")");
}

// A Node that reports so many images, none of which is a pod's.
std::string node_with_images(int count) {
  std::string images;
  for (int number = 0; number < count; ++number) {
    images += std::string(number == 0 ? "" : ",") + R"({"names":["docker.io/library/o:)" +
              std::to_string(number) + R"("]})";
  }
  return R"({"status":{"images":[)" + images + "]}}";
}

TEST(Readiness, WhatAPodNamesMustBeKnown) {
  const std::string volumes = R"("volumes":[)";
  const std::string pvc = volumes + R"({"persistentVolumeClaim":{"claimName":"c"}}])";
  const std::string csi_volume = R"({"spec":{"csi":{"driver":"d"}}})";
  const std::string claim = R"({"spec":{"volumeName":"v"}})";
  const std::string csinode = R"({"spec":{"drivers":[{"name":"d"}]}})";
  struct Case {
    const char* what;
    std::string spec;
    Objects objects;
    const char* readiness;
  };
  const Case cases[] = {
      {"nothing", "", {}, "ready"},
      {"ConfigMap",
       volumes + R"({"configMap":{"name":"m"}}])",
       {{"configmaps/a/m", "{}"}},
       "ready"},
      {"ConfigMap, not received",
       volumes + R"({"configMap":{"name":"m"}}])",
       {},
       "config_map: ConfigMap a/m was never received"},
      {"ConfigMap, absent",
       volumes + R"({"configMap":{"name":"m"}}])",
       {{"configmaps/a/m", "absent"}},
       "config_map: ConfigMap a/m does not exist"},
      {"ConfigMap, absent and optional",
       volumes + R"({"configMap":{"name":"m","optional":true}}])",
       {{"configmaps/a/m", "absent"}},
       "ready"},
      {"ConfigMap, optional, not received: 503 is no 404",
       volumes + R"({"configMap":{"name":"m","optional":true}}])",
       {},
       "config_map: ConfigMap a/m was never received"},
      {"Secret",
       volumes + R"({"secret":{"secretName":"s"}}])",
       {},
       "secret: Secret a/s was never received"},
      {"Secret, optional",
       volumes + R"({"secret":{"secretName":"s","optional":true}}])",
       {{"secrets/a/s", "absent"}},
       "ready"},
      {"projected",
       volumes +
           R"({"projected":{"sources":[{"configMap":{"name":"m"}},{"secret":{"name":"s"}}]}}])",
       {{"secrets/a/s", "{}"}},
       "config_map: ConfigMap a/m was never received"},
      {"environment of an init container",
       R"("initContainers":[{"image":"i:1","env":[{"valueFrom":)"
       R"({"secretKeyRef":{"name":"s","key":"k"}}}]}])",
       {{"secrets/a/s", R"({"data":{"other":""}})"}},
       "secret: Secret a/s has no key k"},
      {"environment with its key",
       R"("containers":[{"image":"i:1","env":[{"valueFrom":)"
       R"({"secretKeyRef":{"name":"s","key":"k"}}}]}])",
       {{"secrets/a/s", R"({"data":{"k":""}})"}},
       "ready"},
      {"whole environment",
       R"("containers":[{"image":"i:1","envFrom":[{"configMapRef":{"name":"m"}}]}])",
       {},
       "config_map: ConfigMap a/m was never received"},
      {"named twice, told once",
       volumes + R"({"configMap":{"name":"m"}},{"configMap":{"name":"m"}}])",
       {},
       "config_map: ConfigMap a/m was never received"},
      {"pull secret",
       R"("imagePullSecrets":[{"name":"r"}])",
       {},
       "image_pull_secret: Secret a/r was never received"},
      {"service account that was deleted",
       R"("serviceAccountName":"x")",
       {{"serviceaccounts/a/x", "absent"}},
       "service_account: ServiceAccount a/x does not exist"},
      {"service account that nobody asked for", R"("serviceAccountName":"x")", {}, "ready"},
      {"claim", pvc, {}, "volume_claim: PersistentVolumeClaim a/c was never received"},
      {"claim, not bound",
       pvc,
       {{"persistentvolumeclaims/a/c", R"({"spec":{}})"}},
       "volume_claim: PersistentVolumeClaim a/c is not bound to a volume"},
      {"volume",
       pvc,
       {{"persistentvolumeclaims/a/c", claim}},
       "volume: PersistentVolume v was never received"},
      {"local volume",
       pvc,
       {{"persistentvolumeclaims/a/c", claim},
        {"persistentvolumes//v", R"({"spec":{"local":{}}})"}},
       "ready"},
      {"CSI volume, CSINode unknown",
       pvc,
       {{"persistentvolumeclaims/a/c", claim}, {"persistentvolumes//v", csi_volume}},
       "csi_driver: CSINode n was never received"},
      {"CSI volume, no CSINode",
       pvc,
       {{"persistentvolumeclaims/a/c", claim},
        {"persistentvolumes//v", csi_volume},
        {"csinodes//n", "absent"}},
       "csi_driver: CSI driver d is not registered on the node"},
      {"CSI volume, another driver",
       pvc,
       {{"persistentvolumeclaims/a/c", claim},
        {"persistentvolumes//v", csi_volume},
        {"csinodes//n", R"({"spec":{"drivers":[{"name":"e"}]}})"}},
       "csi_driver: CSI driver d is not registered on the node"},
      {"CSI volume",
       pvc,
       {{"persistentvolumeclaims/a/c", claim},
        {"persistentvolumes//v", csi_volume},
        {"csinodes//n", csinode}},
       "ready"},
      {"CSI volume that is not attached",
       pvc,
       {{"persistentvolumeclaims/a/c", claim},
        {"persistentvolumes//v", csi_volume},
        {"csinodes//n", csinode},
        {"csidrivers//d", R"({"spec":{"attachRequired":true}})"}},
       "volume_attachment: the VolumeAttachment of PersistentVolume v was never received"},
      {"CSI volume that needs no attachment",
       pvc,
       {{"persistentvolumeclaims/a/c", claim},
        {"persistentvolumes//v", csi_volume},
        {"csinodes//n", csinode},
        {"csidrivers//d", R"({"spec":{"attachRequired":false}})"}},
       "ready"},
      {"ephemeral claim",
       volumes + R"({"name":"w","ephemeral":{}}])",
       {},
       "volume_claim: PersistentVolumeClaim a/p-w was never received"},
      {"inline CSI volume",
       volumes + R"({"csi":{"driver":"d"}}])",
       {{"csinodes//n", csinode}},
       "ready"},
      {"an older plugin's secret",
       volumes + R"({"rbd":{"secretRef":{"name":"s"}}}])",
       {},
       "secret: Secret a/s was never received"},
      {"pod certificate",
       volumes + R"({"projected":{"sources":[{"podCertificate":{"signerName":"e.com/s"}}]}}])",
       {},
       "pod_certificate: its certificate of e.com/s is lost with a reboot and only the cloud can "
       "issue another one"},
      {"trust bundle",
       volumes + R"({"projected":{"sources":[{"clusterTrustBundle":{"name":"t"}}]}}])",
       {},
       "trust_bundle: ClusterTrustBundle t was never received"},
      {"resource claim",
       R"("resourceClaims":[{"name":"g","resourceClaimName":"rc"}])",
       {},
       "resource_claim: ResourceClaim a/rc was never received"},
      {"resource claim, not allocated",
       R"("resourceClaims":[{"name":"g","resourceClaimName":"rc"}])",
       {{"resourceclaims/a/rc", "{}"}},
       "resource_claim: ResourceClaim a/rc is not allocated"},
      {"resource claim, allocated",
       R"("resourceClaims":[{"name":"g","resourceClaimName":"rc"}])",
       {{"resourceclaims/a/rc", R"({"status":{"allocation":{}}})"}},
       "ready"},
      {"node", "", {{"nodes//n", "absent"}}, "node_state: Node n was never received"},
      {"image", R"("containers":[{"image":"i:1"}])", {}, "ready"},
      {"image, missing",
       R"("containers":[{"image":"other:1"}])",
       {},
       "image_missing: image other:1 is not on the node"},
      {"image, always pulled",
       R"("containers":[{"image":"i:1","imagePullPolicy":"Always"}])",
       {},
       "image_pull_policy: image i:1 is always pulled"},
      {"image, latest",
       R"("containers":[{"image":"i"}])",
       {},
       "image_pull_policy: image i is always pulled"},
      {"RuntimeClass",
       R"("runtimeClassName":"kata")",
       {},
       "runtime_class: RuntimeClass kata was never received"},
      {"RuntimeClass, absent",
       R"("runtimeClassName":"kata")",
       {{"runtimeclasses//kata", "absent"}},
       "runtime_class: RuntimeClass kata does not exist"},
      {"RuntimeClass, present",
       R"("runtimeClassName":"kata")",
       {{"runtimeclasses//kata", "{}"}},
       "ready"},
      {"another operating system",
       R"("os":{"name":"windows"})",
       {},
       "admission: the kubelet would refuse it: PodOSNotSupported: Failed to admit pod as the OS "
       "field doesn't match node OS"},
      {"this operating system", R"("os":{"name":"linux"})", {}, "ready"},
      {"device",
       R"("containers":[{"image":"i:1","resources":{"requests":{"e.com/gpu":"1","cpu":"1"}}}])",
       {{"nodes//n", R"({"status":{"allocatable":{"e.com/gpu":"2","cpu":"4"}}})"}},
       "device: it needs e.com/gpu, and the kubelet refuses it if the device plug-in registers "
       "after the kubelet has started its pods"},
      {"a resource that is not the node's",
       R"("containers":[{"image":"i:1","resources":{"requests":{"e.com/license":"1"}}}])",
       {{"nodes//n", R"({"status":{"allocatable":{"cpu":"4"}}})"}},
       "ready"},
      {"image, none is reported",
       R"("containers":[{"image":"other:1"}])",
       {{"nodes//n", "{}"}},
       "ready"},
      {"image, all are reported",
       R"("containers":[{"image":"other:1"}])",
       {{"nodes//n", node_with_images(49)}},
       "image_missing: image other:1 is not on the node"},
      {"image, perhaps not all are reported",
       R"("containers":[{"image":"other:1"}])",
       {{"nodes//n", node_with_images(50)}},
       "ready"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(judged(pod_with(c.spec), knowing(c.objects)), c.readiness) << c.what;
  }
}

TEST(Readiness, WhatTheKubeletWouldRefuseIsNotReady) {
  ReadinessInput knowledge = knowing({});
  knowledge.refused["u1"] = "not enough";
  knowledge.refused["u2"] = "another pod's";
  EXPECT_EQ(judged(pod_with(""), knowledge), "admission: not enough");
  const auto other =
      wire::parse_json(R"({"metadata":{"name":"p","labels":{"kubernetes.io/os":"windows"}}})");
  EXPECT_EQ(judged(other.value(), knowing({})),
            "admission: the kubelet would refuse it: PodOSSelectorNodeLabelDoesNotMatch: Failed to "
            "admit pod as the `kubernetes.io/os` label doesn't match node label");
}

TEST(Readiness, ClaimsMadeFromTemplatesAreNamedInTheStatus) {
  const json::value pod =
      pod_with(R"("resourceClaims":[{"name":"g","resourceClaimTemplateName":"t"}])",
               R"(,"status":{"resourceClaimStatuses":[{"name":"g","resourceClaimName":"p-g-x"}]})");
  EXPECT_EQ(judged(pod, knowing({})), "resource_claim: ResourceClaim a/p-g-x was never received");
}

TEST(Readiness, PodsThatWouldNotBeStartedAreNotJudged) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    const std::string rest = std::string(R"(,"status":{"phase":")") + phase + "\"}";
    EXPECT_EQ(judged(pod_with("", rest), knowing({})), "not judged");
  }
  const auto leaving = wire::parse_json(
      R"({"metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{}})");
  EXPECT_EQ(judged(leaving.value(), knowing({})), "not judged");
  EXPECT_EQ(judged(wire::parse_json("{}").value(), knowing({})), "the pod has no name");
}

TEST(Readiness, TokensAreForOnePodAndAudienceAndMayEnd) {
  const json::value pod = pod_with(
      R"("volumes":[{"projected":{"sources":[{"serviceAccountToken":{"audience":"v"}}]}}])");
  const auto token = [](std::string uid, std::string audience, Duration left) {
    return StoredToken{.namespace_name = "a",
                       .service_account = "default",
                       .pod_uid = std::move(uid),
                       .audiences = {std::move(audience)},
                       .ends = now + left};
  };
  struct Case {
    const char* what;
    std::vector<StoredToken> tokens;
    const char* readiness;
  };
  const Case cases[] = {
      {"none", {}, "token_missing: its token for audience v was never received"},
      {"another pod's",
       {token("u2", "v", 1h)},
       "token_missing: its token for audience v was never received"},
      {"another audience",
       {token("u1", "w", 1h)},
       "token_missing: its token for audience v was never received"},
      {"valid", {token("u1", "v", 11min)}, "ready"},
      {"ended",
       {token("u1", "v", -5min)},
       "ready (token_ends: its token for audience v ended 5 minutes ago; the API server may refuse "
       "it)"},
      {"ends",
       {token("u1", "v", 90s)},
       "ready (token_ends: its token for audience v ends in 1 minute; the API server may refuse "
       "it)"},
      {"the last one counts", {token("u1", "v", -5min), token("u1", "v", 1h)}, "ready"},
  };
  for (const Case& c : cases) {
    ReadinessInput knowledge = knowing({});
    knowledge.tokens = c.tokens;
    EXPECT_EQ(judged(pod, knowledge), c.readiness) << c.what;
  }
  ReadinessInput knowledge = knowing({});
  knowledge.tokens = {token("u1", "v", 1h)};
  EXPECT_EQ(check_readiness(pod, knowledge).value()->until, now + 1h);
  EXPECT_EQ(check_readiness(pod_with(""), knowledge).value()->until, std::nullopt);
}

TEST(Readiness, ImagesAreNamedAsARuntimeNamesThem) {
  const std::pair<const char*, const char*> names[] = {
      {"nginx", "docker.io/library/nginx:latest"},
      {"nginx:1", "docker.io/library/nginx:1"},
      {"a/b", "docker.io/a/b:latest"},
      {"localhost/b:2", "localhost/b:2"},
      {"host:5000/b", "host:5000/b:latest"},
      {"registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10"},
      {"e.com/a:1@sha256:00", "e.com/a@sha256:00"},
      {"e.com:80/a@sha256:00", "e.com:80/a@sha256:00"},
  };
  for (const auto& [image, full] : names) EXPECT_EQ(full_image_name(image), full);
  EXPECT_TRUE(pulls_always("a", ""));
  EXPECT_TRUE(pulls_always("host:5000/a", ""));
  EXPECT_FALSE(pulls_always("host:5000/a:1", ""));
  EXPECT_FALSE(pulls_always("a@sha256:00", ""));
  EXPECT_FALSE(pulls_always("a", "IfNotPresent"));
  EXPECT_TRUE(pulls_always("a:1", "Always"));
}

TEST(Readiness, EveryObstacleHasItsWord) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < obstacles; ++i) words.insert(to_string(static_cast<Obstacle>(i)));
  EXPECT_EQ(words.size(), obstacles);
  EXPECT_EQ(to_string(Obstacle::image_pull_policy), "image_pull_policy");
}

}  // namespace
}  // namespace holdfast::sync::autonomy
