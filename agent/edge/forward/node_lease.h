// The node's own lease: renewed upstream by the agent, and answered locally to the node's
// components.
//
// Only the agent renews the lease, so that the kubelet's lease requests never wait for the cloud,
// and only while the kubelet is alive. renewTime never goes back, whatever the wall clock does. The
// lease is neither written to disk nor journalled.
//
// The lease belongs to the Node, so that the garbage collector deletes it with the Node: without a
// Node none is created, as by the kubelet, and the owner of a lease that was made for an earlier
// Node of the same name is corrected, once for each Node.
//
// Its managedFields, more than half of each answer to a renewal, are removed as kube-apiserver's
// documentation describes it, by setting them to [{}]. A kube-apiserver records none for an object
// that has none, until somebody applies one.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/edge/forward/uplink.h"
#include "platform/time.h"
#include "sync/autonomy/kubelet_health.h"
#include "sync/model/types.h"
#include "sync/objects/version.h"

namespace holdfast::agent {

class NodeLease {
 public:
  // `lease_duration` is written into the lease. `kubelet_grace`: see sync::autonomy::KubeletHealth.
  NodeLease(std::string node_name, Duration lease_duration, Duration kubelet_grace,
            const Clock& clock);

  // Renews the lease upstream with up to four heartbeats (more than one if it has changed or is
  // missing). A missing lease is created only if the API server has the Node. While the kubelet is
  // inactive, only reads the lease, to test whether the cloud is reachable. Errors: as
  // Uplink::call().
  asio::awaitable<Status> renew(Uplink& uplink);

  // When the renewal was sent that was granted last; before the first one, the start.
  [[nodiscard]] MonoTime renewed_at() const { return renewed_at_; }

  // The path of the lease.
  [[nodiscard]] std::string target() const;

  // The lease as JSON for a local client, with a current renewTime. `version` becomes its
  // resourceVersion.
  [[nodiscard]] std::string renew_locally(std::string_view version);

  // The kubelet has written its lease or its node's status. Call it only for callers that were
  // proved to act as the node: permission to write the lease does not make a caller the kubelet.
  void note_kubelet_activity() { kubelet_.note_activity(clock_.mono()); }
  [[nodiscard]] const sync::autonomy::KubeletHealth& kubelet() const { return kubelet_; }

  // The lease has version `to` after it had `from`, which is newer: the API server's data was
  // replaced by older data, as by restoring a backup. Versions count all changes, so they never go
  // back otherwise.
  struct Setback {
    sync::objects::Version from = 0;
    sync::objects::Version to = 0;
  };
  // The setback since the last call, if there was one.
  [[nodiscard]] std::optional<Setback> take_setback() { return std::exchange(setback_, {}); }

  // Whether there is a lease to renew: the API server has answered with one, and has not said since
  // that it is gone.
  [[nodiscard]] bool is_known() const { return !lease_.metadata.resource_version.empty(); }

  // The version that the lease had in the last answer of the last renew(); 0: there was none.
  [[nodiscard]] sync::objects::Version shown() const { return shown_; }

  // The uid of the Node that the API server has now. "": not known.
  void set_node_uid(std::string uid) { node_uid_ = std::move(uid); }

 private:
  // Sets holder, duration, owner and a renewTime later than any before.
  void refresh(sync::Lease& lease);
  void set_owner(sync::Lease& lease) const;
  // Creates the lease if the API server has the Node.
  asio::awaitable<Status> create(Uplink& uplink);
  // Take over the answer to a write: the whole lease, or only its new resourceVersion.
  Status adopt(Result<std::string> answer);
  Status adopt_version(sync::Lease written, Result<std::string> answer);
  // Notes the version that the API server has now.
  void note_version(std::string_view text);
  asio::awaitable<Status> look(Uplink& uplink);

  std::string node_name_;
  Duration lease_duration_;
  const Clock& clock_;
  sync::autonomy::KubeletHealth kubelet_;
  std::string node_uid_;
  std::string corrected_for_;  // the Node as whose lease it was last written
  sync::Lease lease_;     // the API server's last known state; without a resourceVersion: unknown
  bool is_lean_ = false;  // its managedFields were removed since it was last shown as a whole
  bool unanswered_ = false;  // the last write got no answer: it may have changed the version
  sync::objects::Version newest_ = 0;  // the version that the API server had last; 0: unknown
  sync::objects::Version shown_ = 0;
  std::optional<Setback> setback_;
  WallTime last_renewal_;
  MonoTime written_at_;  // when the last renewal was sent
  MonoTime renewed_at_;
};

}  // namespace holdfast::agent
