#include "test/support/scratch_dir.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>

#include "platform/check.h"

namespace holdfast::test {

namespace {

namespace fs = std::filesystem;

// Uses /dev/shm if it has room, so that thousands of tests do not wait for a disk. TMPDIR overrides
// it.
fs::path base() {
  constexpr std::uintmax_t room = 1UL << 30;
  const fs::path memory = "/dev/shm";
  std::error_code ec;
  const fs::space_info space = fs::space(memory, ec);
  const bool use = !ec && space.available >= room && std::getenv("TMPDIR") == nullptr;
  return use ? memory : fs::temp_directory_path();
}

}  // namespace

ScratchDir::ScratchDir() {
  std::string pattern = (base() / "holdfast-test-XXXXXX").string();
  CHECK(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace holdfast::test
