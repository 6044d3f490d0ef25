#include "agent/cloud/missing_rights.h"

#include <algorithm>

#include "platform/text.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/cloud/manifest_rights.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

// A warning about a missing right names the file that grants it.
TEST(MissingRights, TheFileThatGrantsOneIsKnown) {
  for (const auto& file : std::filesystem::directory_iterator(manifests)) {
    const std::string name = file.path().filename().string();
    std::set<Right> rights;
    if (name.starts_with("cloud-rbac")) add_rights_of(file.path().string(), rights);
    for (const Right& right : rights) {
      const std::string known = files_granting(right.verb, right.group, right.resource);
      EXPECT_NE((" " + known + " ").find(" " + name + " "), std::string::npos)
          << right.text() << ": " << known;
      const auto granted = split(known, ' ');
      for (const std::string_view each : granted) {
        std::set<Right> others;
        if (each != "or") add_rights_of(manifests + "/" + std::string(each), others);
        const bool has = std::any_of(others.begin(), others.end(), [&right](const Right& other) {
          return other.verb == right.verb && other.group == right.group &&
                 other.resource == right.resource;
        });
        EXPECT_TRUE(each == "or" || has) << each << " does not grant " << right.text();
      }
    }
  }
  EXPECT_EQ(files_granting("delete", "", "pods"),
            "cloud-rbac-taint-eviction.yaml or cloud-rbac-scheduler.yaml");
  EXPECT_EQ(files_granting("delete", "", "secrets"), "");
}

TEST(MissingRights, AreToldOnceAnHour) {
  test::VirtualTime time;
  MissingRights rights(time.clock());
  const auto refuse = [&rights] {
    rights.refused("DELETE", "/api/v1/namespaces/a/pods/p");
    rights.refused("DELETE", "/api/v1/namespaces/b/pods/q");
    rights.refused("PATCH", "/api/v1/namespaces/b/pods/q/status");
    rights.refused("GET", "/api/v1/pods?watch=true&resourceVersion=5");
    rights.refused("GET", "/healthz");
    rights.refused("GET", "/api/v1/%zz");
  };
  refuse();
  EXPECT_EQ(rights.warnings(), 3u);
  time.run(59min);
  refuse();
  EXPECT_EQ(rights.warnings(), 3u);
  time.run(2min);
  refuse();
  EXPECT_EQ(rights.warnings(), 6u);
}

}  // namespace
}  // namespace holdfast::agent
