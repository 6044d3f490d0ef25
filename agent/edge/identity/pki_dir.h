// The node's keys and certificates on disk: DATA-DIR/pki, all files 0600, each replaced whole or
// not at all.
//
// client-current.pem and serving-current.pem hold a certificate and its key, as kubelet's do.
// Nothing is ever removed here: what is no use today may be what saves the node tomorrow.

#pragma once

#include <optional>
#include <string>

#include "agent/client/kubeconfig.h"
#include "platform/fs/file.h"
#include "platform/tls/context.h"
#include "sync/identity/csr.h"

namespace holdfast::agent {

class PkiDir {
 public:
  // Makes the directory when it is missing. Errors: denied (another user's, a link, or writable by
  // others), the disk's.
  [[nodiscard]] static Result<PkiDir> open(const fs::Path& data_dir);

  // Nothing when there is none. Errors: corrupt (not a pair), denied (others may read it), the
  // disk's.
  [[nodiscard]] Result<std::optional<tls::Identity>> load(sync::CertificateUse use) const;
  [[nodiscard]] Status store(sync::CertificateUse use, const tls::Identity& identity) const;

  // The authority that was learnt by its hash.
  [[nodiscard]] Result<std::optional<std::string>> load_authority() const;
  [[nodiscard]] Status store_authority(std::string_view pem) const;

  // How the cluster was reached last, for the day when the bootstrap file is gone; without
  // credentials but for the names of our files.
  [[nodiscard]] Result<ClusterAccess> load_cluster() const;
  [[nodiscard]] Status store_cluster(const ClusterAccess& access) const;

 private:
  explicit PkiDir(fs::Path dir) : dir_(std::move(dir)) {}
  [[nodiscard]] fs::Path file_of(sync::CertificateUse use) const;

  fs::Path dir_;
};

}  // namespace holdfast::agent
