// CertificateSigningRequests: the bodies that are sent, and the answers that are read.

#include "sync/identity/csr.h"

#include "platform/text.h"

namespace holdfast::sync::identity {
namespace {

using Status = CsrState::Status;

TEST(Csr, AsksAsKubeletDoes) {
  EXPECT_EQ(csr_body(CertificateUse::client, "PEM"),
            R"({"kind":"CertificateSigningRequest","apiVersion":"certificates.k8s.io/v1",)"
            R"("metadata":{"generateName":"csr-"},"spec":{"request":"UEVN",)"
            R"("signerName":"kubernetes.io/kube-apiserver-client-kubelet",)"
            R"("usages":["digital signature","client auth"]}})");
  EXPECT_NE(csr_body(CertificateUse::serving, "PEM")
                .find(R"("signerName":"kubernetes.io/kubelet-serving",)"
                      R"("usages":["digital signature","server auth"])"),
            std::string::npos);
  EXPECT_EQ(node_user("edge-a"), "system:node:edge-a");
}

std::string csr(const std::string& status) {
  return R"({"kind":"CertificateSigningRequest","metadata":{"name":"csr-1"},"status":)" + status +
         "}";
}

TEST(Csr, IsReadWhateverCameOfIt) {
  struct Case {
    std::string status;
    CsrState state;
  };
  const std::string issued = base64_encode("CERT");
  const Case cases[] = {
      {"{}", {"csr-1", Status::pending, "", ""}},
      {"null", {"csr-1", Status::pending, "", ""}},
      {R"({"conditions":[{"type":"Approved"}]})", {"csr-1", Status::pending, "", ""}},
      {R"({"conditions":[{"type":"Approved"}],"certificate":")" + issued + R"("})",
       {"csr-1", Status::issued, "CERT", ""}},
      {R"({"conditions":[{"type":"Denied","reason":"R","message":"m"}]})",
       {"csr-1", Status::denied, "", "R: m"}},
      {R"({"conditions":[{"type":"Approved"},{"type":"Failed","message":"m"}]})",
       {"csr-1", Status::failed, "", "m"}},
      {R"({"conditions":[{"type":"Denied"}],"certificate":")" + issued + R"("})",
       {"csr-1", Status::denied, "", ""}},
      {R"({"conditions":[17,{"type":3}]})", {"csr-1", Status::pending, "", ""}},
  };
  for (const Case& c : cases) {
    const auto state = read_csr(csr(c.status));
    ASSERT_TRUE(state) << c.status;
    EXPECT_EQ(*state, c.state) << c.status;
  }
}

TEST(Csr, BadInputIsAnError) {
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"kind":"Pod"})"),
        csr(R"({"certificate":"!"})")}) {
    const auto state = read_csr(body);
    ASSERT_FALSE(state) << body;
    EXPECT_EQ(state.error().code, Errc::invalid) << body;
  }
}

}  // namespace
}  // namespace holdfast::sync::identity
