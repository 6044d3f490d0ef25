// Scenarios on disk, and the files beside them.

#include <algorithm>
#include <filesystem>

#include "agent/lab/scenario/scenario_file.h"
#include "platform/fs/file.h"

namespace holdfast::agent::lab {
namespace {

namespace stdfs = std::filesystem;

// Opens the files that a scenario names, if they lie below its folder. Links are followed first.
class FolderOfScenario {
 public:
  FolderOfScenario(stdfs::path folder, std::size_t file_bytes)
      : folder_(std::move(folder)), file_bytes_(file_bytes) {}

  Result<FileBeside> open(const std::string& name) const {
    std::error_code ec;
    const stdfs::path root = stdfs::canonical(folder_, ec);
    if (ec) return fail(Errc::not_found, folder_.string() + ": " + ec.message(), ec);
    const stdfs::path target = stdfs::weakly_canonical(root / name, ec);
    if (ec) return fail(Errc::not_found, quoted_text(name) + ": " + ec.message(), ec);
    const auto [end, rest] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
    if (end != root.end() || rest == target.end()) {
      return fail(Errc::denied, quoted_text(name) + " is not below the scenario's folder");
    }
    if (stdfs::exists(target, ec) && !stdfs::is_regular_file(target, ec)) {
      return fail(Errc::denied, quoted_text(name) + " is not a file");
    }
    auto content = fs::read_all(target, file_bytes_);
    if (content) return FileBeside{target.string(), *std::move(content)};
    if (content.error().code == Errc::not_found) {
      return fail(Errc::not_found, "there is no file " + quoted_text(name));
    }
    if (content.error().code == Errc::exhausted) {
      return fail(Errc::exhausted,
                  quoted_text(name) + " has more than " + std::to_string(file_bytes_) + " bytes");
    }
    return fail("cannot read " + quoted_text(name), content.error());
  }

 private:
  stdfs::path folder_;
  std::size_t file_bytes_;
};

}  // namespace

Result<Scenario> read_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  const ScenarioLimits limits;
  TRY(const std::string text, fs::read_all(path, limits.file_bytes));
  const stdfs::path parent = stdfs::path(path).parent_path();
  const FolderOfScenario folder(parent.empty() ? stdfs::path(".") : parent, limits.file_bytes);
  const OpenBeside open = [&folder](const std::string& name) { return folder.open(name); };
  return parse_scenario(path, text, overrides, open, limits);
}

}  // namespace holdfast::agent::lab
