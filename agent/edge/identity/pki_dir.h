// The node's keys and certificates on disk, in DATA-DIR/pki. All files have mode 0600 and are
// replaced atomically.
//
// client-current.pem and serving-current.pem hold a certificate and its key, in the kubelet's
// format. Files are never removed: an old certificate or authority may still be needed.

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
  // Creates the directory if it is missing. Errors: denied (owned by another user, a symbolic link,
  // or writable by others), the disk's.
  [[nodiscard]] static Result<PkiDir> open(const fs::Path& data_dir);

  // Nothing if there is no such file. Errors: corrupt (not a matching pair), denied (others may
  // read it), the disk's.
  [[nodiscard]] Result<std::optional<tls::Identity>> load(sync::identity::CertificateUse use) const;
  [[nodiscard]] Status store(sync::identity::CertificateUse use,
                             const tls::Identity& identity) const;

  // The certificate authority that was fetched and checked by its hash; see learn_authority().
  [[nodiscard]] Result<std::optional<std::string>> load_authority() const;
  [[nodiscard]] Status store_authority(std::string_view pem) const;

  // A kubeconfig that describes how the cluster was reached last, for the case that the bootstrap
  // file is gone. It contains no credentials for the API server, only the names of the files in
  // this directory; the URL of its proxy may contain a password.
  [[nodiscard]] Result<ClusterAccess> load_cluster() const;
  [[nodiscard]] Status store_cluster(const ClusterAccess& access) const;

 private:
  explicit PkiDir(fs::Path dir) : dir_(std::move(dir)) {}
  [[nodiscard]] fs::Path file_of(sync::identity::CertificateUse use) const;

  fs::Path dir_;
};

}  // namespace holdfast::agent
