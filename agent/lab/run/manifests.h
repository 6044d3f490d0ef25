// The manifests of a scenario as objects to create in a real cluster.
//
// They are created as they are, except for what plain processes and a faster scenario need: a
// container without a command gets one that sleeps, without probes, because its image is not run;
// pods get the tolerations that the API server would add; tolerations and grace periods follow the
// speed. A kubelet, which needs images, gets one that exists.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/guest/guest.h"
#include "platform/result.h"

namespace holdfast::agent::lab::run {

struct ManifestObject {
  std::string api_version;  // "apps/v1"
  std::string kind;         // "Deployment"
  std::string space;        // its namespace; empty: "default", if the kind has namespaces
  std::string name;
  std::string place;  // "web.yaml:12"
  std::string body;   // JSON
};

struct Manifests {
  std::vector<ManifestObject> objects;  // in the order of the files, namespaces first
  std::vector<std::string> notes;       // what was changed: "web.yaml:12: ..."
  std::set<std::string> spaces;         // in a cluster of others: the files' namespaces
};

struct ManifestChanges {
  int speed = 1;
  std::int64_t default_toleration = 300;  // seconds, for pods without own tolerations
  std::string image = {};                 // of all containers; empty: as they are written
  // In a cluster of others: pods run on the run's nodes only, and all objects are in namespaces of
  // the run. Those of the files are not created; their names become spaces.
  std::optional<guest::Guest> guest = {};
};

// Reads the files. Errors: invalid, naming the file and the line; those of reading files.
[[nodiscard]] Result<Manifests> read_manifest_files(const std::vector<std::string>& files,
                                                    const ManifestChanges& changes);

// The same for one text; `file` stands for it in errors.
[[nodiscard]] Status add_manifests(const std::string& file, const std::string& text,
                                   const ManifestChanges& changes, Manifests& out);

}  // namespace holdfast::agent::lab::run
