// The objects that a pod, a claim and an attachment refer to, and the resources that a node may
// only get by name.

#include "sync/autonomy/references.h"

#include <gtest/gtest.h>

namespace holdfast::sync::autonomy {
namespace {

std::string text(const NeededObjects& references) {
  std::string all;
  for (const NeededObject& each : references) {
    const bool claim = each.resource == "persistentvolumeclaims";
    all += (claim ? "pvc" : each.resource.substr(0, each.resource.size() > 13 ? 2 : 1)) + ":" +
           each.namespace_name + "/" + each.name + " ";
  }
  return all;
}

TEST(References, WhateverAPodMayNameIsFound) {
  struct Case {
    const char* what;
    const char* spec;
    const char* found;
  };
  const Case cases[] = {
      {"nothing", R"({"containers":[{"name":"secret","image":"configMap"}]})", ""},
      {"volumes",
       R"({"volumes":[{"name":"v","secret":{"secretName":"s1"}},
                      {"name":"w","configMap":{"name":"c1","items":[{"key":"k"}]}},
                      {"name":"x","emptyDir":{}}]})",
       "c:ns/c1 s:ns/s1 "},
      {"projected",
       R"({"volumes":[{"projected":{"sources":[{"secret":{"name":"s1"}},{"configMap":{"name":"c1"}},
           {"serviceAccountToken":{"path":"t"}}]}}]})",
       "c:ns/c1 s:ns/s1 "},
      {"environment",
       R"({"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s1","key":"k"}}},
                                 {"valueFrom":{"configMapKeyRef":{"name":"c1","key":"k"}}}],
                          "envFrom":[{"secretRef":{"name":"s2"}},{"configMapRef":{"name":"c2"}}]}],
           "initContainers":[{"envFrom":[{"secretRef":{"name":"s3"}}]}],
           "ephemeralContainers":[{"envFrom":[{"configMapRef":{"name":"c3"}}]}]})",
       "c:ns/c1 c:ns/c2 c:ns/c3 s:ns/s1 s:ns/s2 s:ns/s3 "},
      {"pull secrets and plugins",
       R"({"imagePullSecrets":[{"name":"s1"},{"name":"s2"}],
           "volumes":[{"csi":{"nodePublishSecretRef":{"name":"s3"}}},
                      {"azureFile":{"secretName":"s4"}},{"rbd":{"secretRef":{"name":"s5"}}}]})",
       "s:ns/s1 s:ns/s2 s:ns/s3 s:ns/s4 s:ns/s5 "},
      {"claims of volumes",
       R"({"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"d1"}},
                      {"name":"scratch","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}]})",
       "pvc:ns/d1 pvc:ns/web-scratch "},
      {"claims of devices", R"({"resourceClaims":[{"name":"gpu","resourceClaimName":"g1"}]})",
       "re:ns/g1 "},
      {"service account", R"({"serviceAccountName":"sa"})", "se:ns/sa "},
  };
  for (const Case& c : cases) {
    NeededObjects found;
    const std::string pod =
        R"({"metadata":{"namespace":"ns","name":"web"},"spec":)" + std::string(c.spec) + "}";
    ASSERT_TRUE(add_references(pod, found)) << c.what;
    EXPECT_EQ(text(found), c.found) << c.what;
  }
  NeededObjects found;
  EXPECT_TRUE(add_references(R"({"metadata":{"namespace":"ns"}})", found));
  for (const char* bad :
       {"", "[]", "{}", R"({"metadata":{}})", R"({"metadata":{"namespace":1}})"}) {
    EXPECT_FALSE(add_references(bad, found)) << bad;
  }
  EXPECT_TRUE(found.empty());
}

TEST(References, ClaimsAndAttachmentsLeadToTheirVolume) {
  const NeededObject volume{"persistentvolumes", "", "pv-1"};
  EXPECT_EQ(volume_of_claim(R"({"spec":{"volumeName":"pv-1"}})"), volume);
  EXPECT_EQ(volume_of_attachment(R"({"spec":{"source":{"persistentVolumeName":"pv-1"}}})"), volume);
  for (const char* none : {"", "[]", "{}", R"({"spec":{"volumeName":""}})",
                           R"({"spec":{"volumeName":7}})", R"({"spec":[]})"}) {
    EXPECT_FALSE(volume_of_claim(none)) << none;
    EXPECT_FALSE(volume_of_attachment(none)) << none;
  }
}

TEST(References, ANodeGetsTheseByNameOnly) {
  struct Case {
    const char* group;
    const char* resource;
    const char* kind;  // "": the node may list them
  };
  const Case cases[] = {
      {"", "persistentvolumeclaims", "PersistentVolumeClaim"},
      {"", "persistentvolumes", "PersistentVolume"},
      {"", "serviceaccounts", "ServiceAccount"},
      {"storage.k8s.io", "csinodes", "CSINode"},
      {"storage.k8s.io", "volumeattachments", "VolumeAttachment"},
      {"resource.k8s.io", "resourceclaims", "ResourceClaim"},
      {"", "secrets", ""},
      {"", "pods", ""},
      {"storage.k8s.io", "csidrivers", ""},
      {"example.org", "persistentvolumes", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(kind_got_by_name(c.group, c.resource).value_or(""), c.kind) << c.resource;
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy
