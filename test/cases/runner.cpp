#include "test/cases/runner.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sync/wire/json.h"
#include "test/cases/deviations.h"
#include "test/cases/driver.h"
#include "test/cases/expectation.h"
#include "test/cases/preemption/operations.h"
#include "test/cases/profile.h"

namespace holdfast::cases {
namespace {

bool is_known_kind(std::string_view kind) {
  constexpr std::string_view known[] = {"monitor",     "noschedule-taint", "label-reconcile",
                                        "zone-state",  "rate-queue",       "toleration",
                                        "timed-queue", "taint-eviction"};
  return std::find(std::begin(known), std::end(known), kind) != std::end(known);
}

bool holds_for(const json::object& expected, std::string_view variant) {
  if (find(expected, "variants") == nullptr) return true;
  const json::array& variants = array_in(expected, "variants");
  return std::any_of(variants.begin(), variants.end(), [variant](const json::value& name) {
    return name.is_string() && name.get_string() == variant;
  });
}

Difference check_after(const json::object& one, std::size_t step, const Driver& driver,
                       std::string_view variant) {
  for (const json::value& line : array_in(one, "expect")) {
    const json::object& expected = object_of(line);
    if (integer(expected, "afterStep", {}) != static_cast<std::int64_t>(step)) continue;
    if (!holds_for(expected, variant)) continue;
    auto difference = first_difference(expected, driver, variant);
    if (difference) return "after step " + std::to_string(step) + ": " + *difference;
  }
  return std::nullopt;
}

// Each expectation names a step. One about a step that does not exist would never be compared.
void check_expectations(const json::object& one, const json::array& steps) {
  const auto last = static_cast<std::int64_t>(steps.size()) - 1;
  for (const json::value& line : needs_elements(one, "expect")) {
    const json::object& expected = object_of(line);
    (void)integer_of(needs(expected, "afterStep"), {0, last});
    (void)texts_in(expected, "variants");
  }
}

Difference run_variant(const json::object& one, const json::value& name) {
  const std::string_view variant = text_of(name);
  const json::object& config = object_in(one, "config");
  const auto options = profile_of(variant, config);
  if (!options) throw Malformed(name, "unknown variant");
  const WallTime epoch = find(one, "epoch0") == nullptr ? WallTime{} : time_in(one, "epoch0");
  Driver driver(*options, config, epoch, text(one, "kind") == "taint-eviction");
  const json::array& steps = needs_elements(one, "steps");
  check_expectations(one, steps);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    driver.step(steps[step]);
    if (auto difference = check_after(one, step, driver, variant)) return difference;
  }
  return std::nullopt;
}

Difference run_case(const json::object& one) {
  const std::string kind = needs_text(one, "kind");
  if (!is_known_kind(kind)) throw Malformed(one, "kind", "unknown kind " + kind);
  for (const json::value& name : needs_elements(one, "variants")) {
    if (auto difference = run_variant(one, name)) {
      return std::string(text_of(name)) + ": " + *difference;
    }
  }
  return std::nullopt;
}

Result<json::value> read_file(const std::filesystem::path& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return fail(Errc::invalid, "is not a file");
  // Checked before reading, so that a huge file does not fill the memory.
  if (std::filesystem::file_size(path, ec) > sync::wire::JsonLimits{}.bytes || ec) {
    return fail(Errc::exhausted, "is too large");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Errc::unavailable, "cannot be read");
  const std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return sync::wire::parse_json(content);
}

// The reason why this difference is accepted; empty if it is not. A difference of the plain
// behaviour is never accepted, because the case was written for it.
std::string_view accepted(const std::string& name, const std::string& difference) {
  return difference.starts_with("plain: ") ? std::string_view() : deviation_of(name);
}

// Runs the cases of one file.
class FileRun {
 public:
  FileRun(std::string file, std::ostream& out, Tally& tally)
      : file_(std::move(file)), out_(out), tally_(tally) {}

  void run(const json::value& root);
  void error(const std::string& text) {
    ++tally_.errors;
    out_ << "ERROR " << file_ << text << "\n";
  }

 private:
  void run_one(const json::object& one, const std::string& name);
  void check_name(const json::object& one);
  void report(const std::string& name, const Difference& difference);

  std::string file_;
  std::ostream& out_;
  Tally& tally_;
  std::set<std::string, std::less<>> names_;
};

// The name of a case, for messages; empty if it has none.
std::string name_of(const json::value& one) {
  for (const char* const key : {"name", "id"}) {
    const json::value* found = one.is_object() ? one.get_object().if_contains(key) : nullptr;
    if (found != nullptr && found->is_string()) return std::string(found->get_string());
  }
  return {};
}

void FileRun::run(const json::value& root) {
  const json::value* cases = root.is_object() ? root.get_object().if_contains("cases") : nullptr;
  if (cases == nullptr || !cases->is_array() || cases->get_array().empty()) {
    return error(": cases: expected a list with at least one case");
  }
  for (const json::value& one : cases->get_array()) {
    const std::string name = name_of(one);
    try {
      reading(one, [this, &one, &name] { run_one(object_of(one), name); });
    } catch (const Malformed& malformed) {
      error((name.empty() ? "" : " " + name) + ": " + malformed.path(root) + ": " +
            malformed.what());
    }
  }
}

void FileRun::check_name(const json::object& one) {
  const char* const key = find(one, "id") != nullptr ? "id" : "name";
  if (!names_.insert(needs_text(one, key)).second) {
    throw Malformed(one, key, "names an earlier case of this file");
  }
}

void FileRun::run_one(const json::object& one, const std::string& name) {
  check_name(one);
  const bool schedules = find(one, "op") != nullptr || find(one, "given") != nullptr;
  if (schedules && !is_for_us(one)) {
    ++tally_.other;
    return;
  }
  report(name, schedules ? run_preemption_case(one) : run_case(one));
}

void FileRun::report(const std::string& name, const Difference& difference) {
  const std::string_view reason = difference ? accepted(name, *difference) : std::string_view();
  if (!difference || !reason.empty()) {
    ++tally_.passed;
  } else {
    ++tally_.failed;
    out_ << "FAIL " << file_ << " " << name << ": " << *difference << "\n";
  }
  if (!reason.empty()) {
    out_ << "deviates " << file_ << " " << name << ": " << *difference << " (" << reason << ")\n";
  }
}

void run_file(const std::filesystem::path& path, std::ostream& out, Tally& tally) {
  FileRun file(path.filename().string(), out, tally);
  const auto content = read_file(path);
  if (!content) return file.error(": " + content.error().what);
  file.run(*content);
}

}  // namespace

void run_cases(const std::string& file, const json::value& content, std::ostream& out,
               Tally& tally) {
  FileRun(file, out, tally).run(content);
}

void run_folder(const std::filesystem::path& folder, std::ostream& out, Tally& tally) {
  std::error_code ec;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (ec || files.empty()) {
    out << "ERROR " << folder.string() << ": " << (ec ? ec.message() : "no cases") << "\n";
    ++tally.errors;
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) run_file(file, out, tally);
}

}  // namespace holdfast::cases
