// The cluster's certificate authority: approves the CertificateSigningRequests of nodes and signs
// approved ones.

#pragma once

#include <filesystem>
#include <optional>

#include "agent/lab/apiserver/editor.h"
#include "agent/lab/rules/identity.h"
#include "platform/tls/signer.h"

namespace holdfast::agent::lab {

class CertificateLoop {
 public:
  // `editor` outlives it. Certificates are valid for `lifetime`, or less if the request asks for
  // less.
  CertificateLoop(Editor& editor, tls::Signer signer, Duration lifetime)
      : editor_(editor), signer_(std::move(signer)), lifetime_(lifetime) {}

  // Handles all pending requests. Failed writes are logged and retried by a later pass.
  void pass();

  // Writes the ConfigMap kube-public/cluster-info, from which a new node gets the CA certificate.
  // It checks the certificate by the key digest that it was given. `address` is the server's
  // "host:port". The ConfigMap is signed with each of the `tokens` "ID.SECRET" of the group
  // system:bootstrappers, as upstream's bootstrap signer does.
  void publish(const std::string& address, const TokenTable& tokens);

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
