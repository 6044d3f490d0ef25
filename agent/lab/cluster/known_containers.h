// The containers that a kubelet has reported as running, with the number of their restarts. Pure.

#pragma once

#include <map>
#include <string>
#include <utility>

#include "sync/model/types.h"

namespace holdfast::agent::lab::cluster {

class KnownContainers {
 public:
  struct Known {
    std::string id;   // the latest, without the runtime's name
    int attempt = 0;  // how often it was restarted

    bool operator==(const Known&) const = default;
  };
  // By pod uid and container name.
  using Map = std::map<std::pair<std::string, std::string>, Known>;

  // Takes the running containers from a pod's status. A new id is a restart even if the kubelet's
  // own count does not say so.
  void note(const sync::Pod& pod);
  [[nodiscard]] const Map& all() const { return known_; }

 private:
  Map known_;
};

}  // namespace holdfast::agent::lab::cluster
