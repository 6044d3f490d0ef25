// The cluster's own authority: approves nodes' requests for certificates, and signs what was
// approved.

#pragma once

#include <filesystem>
#include <optional>

#include "agent/lab/apiserver/editor.h"
#include "platform/tls/signer.h"
#include "sync/apiserver/identity.h"

namespace holdfast::agent::lab {

class CertificateLoop {
 public:
  // `lifetime` is that of what is signed, where less is not asked for.
  CertificateLoop(Editor& editor, tls::Signer signer, Duration lifetime)
      : editor_(editor), signer_(std::move(signer)), lifetime_(lifetime) {}

  // Does what is to do now. What fails is logged and tried again by a later pass.
  void pass();

  // The ConfigMap kube-public/cluster-info, by which a new node learns the authority: it knows the
  // digest of the authority's key beforehand. `address` is where clients reach us. It is signed
  // with each of the `tokens` "ID.SECRET" of system:bootstrappers, as the bootstrap signer does it.
  void publish(const std::string& address, const sync::TokenTable& tokens);

 private:
  void handle(const StoredPtr& stored);
  [[nodiscard]] boost::json::object sign(const boost::json::object& csr,
                                         std::string_view pem) const;
  void write(const StoredPtr& stored, boost::json::object changed);

  Editor& editor_;
  tls::Signer signer_;
  Duration lifetime_;
};

}  // namespace holdfast::agent::lab
