// Compresses large answers with gzip, as kube-apiserver does.

#pragma once

#include "platform/http/message.h"

namespace holdfast::agent::lab {

// Smaller bodies are not compressed, as in kube-apiserver 1.36. Watches never are, even if they
// begin with a list of the current objects.
inline constexpr std::size_t compressed_from = 128UL << 10;  // bytes

// Compresses the body of a large answer if the caller accepts gzip. `verb` is RequestInfo::verb.
void maybe_compress(const http::Request& request, std::string_view verb, http::Response& response);

}  // namespace holdfast::agent::lab
