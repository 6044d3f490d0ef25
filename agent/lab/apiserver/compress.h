// gzip of large answers, as a kube-apiserver does it.

#pragma once

#include "platform/http/message.h"

namespace holdfast::agent::lab {

// What a kube-apiserver (1.36) leaves plain: smaller bodies, and every watch, also one that begins
// with the state of things.
inline constexpr std::size_t compressed_from = 128UL << 10;  // bytes

// Compresses the body of a large answer when the caller takes gzip. `verb` is RequestInfo::verb.
void maybe_compress(const http::Request& request, std::string_view verb, http::Response& response);

}  // namespace holdfast::agent::lab
