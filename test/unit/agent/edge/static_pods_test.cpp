// The kubelet's folder of static pods: which manifests are replaced, refused, or left alone.

#include "agent/edge/admin/static_pods.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

std::string nginx(const std::string& image, const std::string& name = "nginx") {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
         "\n  namespace: ns\n  annotations:\n    openyurt.io/static-pod-hash: abc\nspec:\n"
         "  containers:\n  - name: c\n    image: " +
         image + "\n";
}

TEST(StaticPods, AManifestIsReadAsFarAsItIsLookedAt) {
  EXPECT_EQ(read_manifest(nginx("i:1")).value(),
            (sync::node::PodManifest{.api_version = "v1",
                                     .kind = "Pod",
                                     .name = "nginx",
                                     .namespace_name = "ns",
                                     .containers = {{"c", "i:1"}}}));
  EXPECT_EQ(read_manifest(R"({"kind":"Pod","spec":{"containers":[7,{"name":["x"]}]}})").value(),
            (sync::node::PodManifest{.kind = "Pod", .containers = {{}, {}}}))
      << "JSON is valid YAML; values of a wrong type count as missing";
  EXPECT_EQ(read_manifest("{kind: Pod, metadata: 7, spec: [], apiVersion: {}}").value(),
            (sync::node::PodManifest{.kind = "Pod"}));
  const std::pair<std::string, std::string> bad[] = {
      {"", "it is not one YAML document"},
      {"a: 1\n---\nb: 2\n", "it is not one YAML document"},
      {"- a\n", "it is not a YAML map"},
      {"word", "it is not a YAML map"},
      {"a: [1\n", "line 2: "},
      {"a: *nobody\n", "line 1: "},
      {"a: " + std::string(100'000, '['), "line 1: "},
  };
  for (const auto& [text, problem] : bad) {
    const auto read = read_manifest(text);
    ASSERT_FALSE(read) << text.substr(0, 20);
    EXPECT_TRUE(read.error().what.starts_with(problem)) << read.error().what;
  }
}

class StaticPodFolder : public testing::Test {
 protected:
  StaticPodFolder() { std::filesystem::create_directory(folders_.manifests); }
  void put(const std::string& file, const std::string& text) {
    std::ofstream(folders_.manifests / file) << text;
  }
  // The names of all files, including hidden ones: "nginx.yaml".
  std::string names(const fs::Path& folder) {
    std::string all;
    for (const std::string& name : fs::list_dir(folder).value_or(std::vector<std::string>())) {
      all += (all.empty() ? "" : " ") + name;
    }
    return all;
  }
  std::string text(const fs::Path& file) { return fs::read_all(file, 1 << 20).value_or("none"); }
  Result<ManifestChange> replace(const sync::node::ManifestFile& file) {
    return replace_manifest(folders_, file, "ns", "nginx");
  }

  test::ScratchDir dir_;
  const StaticPodFolders folders_{dir_.path() / "manifests", dir_.path() / "kept"};
};

TEST_F(StaticPodFolder, ANewVersionTakesThePlaceAndTheOldOneIsKept) {
  put("nginx.yaml", nginx("i:1"));
  put("other.yaml", "left: alone");
  EXPECT_EQ(replace({"nginx.yaml", nginx("i:2")}).value(), ManifestChange::replaced);
  EXPECT_EQ(text(folders_.manifests / "nginx.yaml"), nginx("i:2"));
  EXPECT_EQ(text(folders_.kept / "nginx.yaml.bak"), nginx("i:1"));
  EXPECT_EQ(names(folders_.manifests), "nginx.yaml other.yaml");
  EXPECT_EQ(text(folders_.manifests / "other.yaml"), "left: alone");
  EXPECT_EQ(replace({"nginx.yaml", nginx("i:2")}).value(), ManifestChange::same);
  EXPECT_EQ(text(folders_.kept / "nginx.yaml.bak"), nginx("i:1"))
      << "the backup is still the last different version";
}

TEST_F(StaticPodFolder, WhatDoesNotFitIsRefusedAndChangesNothing) {
  put("nginx.yaml", nginx("i:1"));
  put("apiserver.yaml", nginx("i:1", "apiserver"));
  put("broken.yaml", "a: [");
  std::filesystem::create_symlink(folders_.manifests / "nginx.yaml",
                                  folders_.manifests / "link.yaml");
  const std::string present = "the present manifest";
  struct Row {
    sync::node::ManifestFile file;
    Errc code;
    std::string problem;
  };
  const Row rows[] = {
      {{"absent.yaml", nginx("i:2")}, Errc::not_found, present + ": "},
      {{"apiserver.yaml", nginx("i:2")}, Errc::invalid, present + ", "},
      {{"broken.yaml", nginx("i:2")}, Errc::invalid, present + ", "},
      {{"link.yaml", nginx("i:2")}, Errc::invalid, present + ": "},
      {{"nginx.yaml", nginx("i:2", "apiserver")}, Errc::invalid, "the next manifest: it is for"},
      {{"nginx.yaml", nginx("")}, Errc::invalid, "the next manifest: container \"c\" has no"},
      {{"nginx.yaml", "a: ["}, Errc::invalid, "the next manifest: line 1: "},
  };
  const std::string before = names(folders_.manifests);
  for (const Row& row : rows) {
    const auto refused = replace(row.file);
    ASSERT_FALSE(refused) << row.file.name;
    EXPECT_EQ(refused.error().code, row.code) << row.file.name;
    EXPECT_TRUE(refused.error().what.starts_with(row.problem)) << refused.error().what;
  }
  EXPECT_EQ(names(folders_.manifests), before);
  EXPECT_EQ(text(folders_.manifests / "nginx.yaml"), nginx("i:1"));
  EXPECT_EQ(names(folders_.kept), "");
}

}  // namespace
}  // namespace holdfast::agent
