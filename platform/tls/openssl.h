// OpenSSL's objects as owners, and its complaints as text. Only for platform/tls.

#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::tls {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using X509Ptr = std::unique_ptr<X509, void (*)(X509*)>;
using RequestPtr = std::unique_ptr<X509_REQ, void (*)(X509_REQ*)>;
using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;

// What OpenSSL has to say about the last failure, in a few words; its queue is empty afterwards.
[[nodiscard]] std::string openssl_reason();
// "<what>: <openssl_reason()>", as an invalid argument.
[[nodiscard]] tl::unexpected<Error> refused(const std::string& what);

// A source over `bytes`, which must outlive it; a sink; and what was written into one.
[[nodiscard]] Bio bio_of(std::string_view bytes);
[[nodiscard]] Bio bio_sink();
[[nodiscard]] std::string text_of(const Bio& bio);

// Null when there is none in the text, or it cannot be read. Of several the first.
[[nodiscard]] Key read_key(std::string_view pem);
[[nodiscard]] X509Ptr read_x509(std::string_view pem);

[[nodiscard]] std::string pem_of(X509* certificate);

// Adds an entry to a name: "CN" or "O". False when the value is not UTF-8 or too long.
[[nodiscard]] bool add_name(X509_NAME* name, const char* field, std::string_view value);

// The text of the first entry of that kind from place `at` on (-1: from the start), which moves to
// it; nothing left: `at` is negative.
[[nodiscard]] std::string next_entry(const X509_NAME* name, int nid, int& at);

// Names in the form of subjectAltName: "DNS:localhost", "IP:127.0.0.1". Others are left out.
[[nodiscard]] std::vector<std::string> alternative_names(const STACK_OF(X509_EXTENSION) *
                                                         extensions);

}  // namespace holdfast::tls
