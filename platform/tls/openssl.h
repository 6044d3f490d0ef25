// RAII types for OpenSSL's objects, and its errors as text. Private to platform/tls.

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

// OpenSSL's reason for the last failure, in a few words. Clears its error queue.
[[nodiscard]] std::string openssl_reason();
// The error "<what>: <openssl_reason()>" with code invalid.
[[nodiscard]] tl::unexpected<Error> refused(const std::string& what);

// A source that reads from `bytes`, which must outlive it; a memory sink; and the text written into
// a sink.
[[nodiscard]] Bio bio_of(std::string_view bytes);
[[nodiscard]] Bio bio_sink();
[[nodiscard]] std::string text_of(const Bio& bio);

// The first key or certificate in the text; null if there is none or it cannot be read.
[[nodiscard]] Key read_key(std::string_view pem);
[[nodiscard]] X509Ptr read_x509(std::string_view pem);

[[nodiscard]] std::string pem_of(X509* certificate);

// Adds an entry, "CN" or "O", to a name. Returns false if the value is not UTF-8 or is too long.
[[nodiscard]] bool add_name(X509_NAME* name, const char* field, std::string_view value);

// The text of the next entry of kind `nid` after index `at` (-1: from the start). `at` is set to
// its index, or to a negative number if there is none.
[[nodiscard]] std::string next_entry(const X509_NAME* name, int nid, int& at);

// The names of subjectAltName: "DNS:localhost", "IP:127.0.0.1". Other kinds are left out.
[[nodiscard]] std::vector<std::string> alternative_names(const STACK_OF(X509_EXTENSION) *
                                                         extensions);

}  // namespace holdfast::tls
