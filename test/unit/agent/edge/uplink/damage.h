// Damages files of a data directory, as worn flash does; and writes of a kubelet that they must not
// cost.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/http/message.h"
#include "platform/integers.h"

namespace holdfast::agent::uplink::damaged {

inline std::string name_of(int number) { return "p" + std::to_string(number); }

// The kubelet's request to write a status with this message to that pod of the namespace a.
inline http::Request status_of(int number, const std::string& message) {
  const std::string name = name_of(number);
  return {.method = http::Method::patch,
          .target = "/api/v1/namespaces/a/pods/" + name + "/status",
          .headers = {{"User-Agent", "kubelet/v1"},
                      {"Content-Type", "application/strategic-merge-patch+json"}},
          .body = R"({"metadata":{"uid":"uid-)" + name + R"("},"status":{"message":")" + message +
                  "\"}}"};
}

// Overwrites `bytes` from an offset on, as far as the file reaches.
inline void damage(const std::filesystem::path& file, std::uintmax_t from, std::uintmax_t bytes) {
  const std::uintmax_t size = std::filesystem::file_size(file);
  const std::uintmax_t begin = std::min(from, size);
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(begin));
  const std::string garbage(to_size(std::min(bytes, size - begin)), '\xa5');
  out.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  EXPECT_TRUE(out.flush().good());
}

// The number of databases that were set aside.
inline std::ptrdiff_t kept_files(const std::filesystem::path& dir, const std::string& database) {
  const std::filesystem::directory_iterator entries(dir);
  return std::count_if(begin(entries), end(entries), [&database](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name.starts_with(database + ".damaged-") &&
           std::count(name.begin(), name.end(), '-') == 1;
  });
}

}  // namespace holdfast::agent::uplink::damaged
