#include "test/cases/runner.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
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
    const json::object& expected = line.as_object();
    if (number(expected, "afterStep") != static_cast<double>(step)) continue;
    if (!holds_for(expected, variant)) continue;
    auto difference = first_difference(expected, driver, variant);
    if (difference) return "after step " + std::to_string(step) + ": " + *difference;
  }
  return std::nullopt;
}

Difference run_variant(const json::object& one, std::string_view variant) {
  const json::object& config = object_in(one, "config");
  const auto options = profile_of(variant, config);
  if (!options) return "unknown variant";
  const auto epoch = parse_rfc3339(text(one, "epoch0", "1970-01-01T00:00:00Z"));
  if (!epoch) return epoch.error().what;
  Driver driver(*options, config, *epoch, text(one, "kind") == "taint-eviction");
  const json::array& steps = array_in(one, "steps");
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (auto done = driver.step(steps[step].as_object()); !done) {
      return "step " + std::to_string(step) + ": " + done.error().what;
    }
    if (auto difference = check_after(one, step, driver, variant)) return difference;
  }
  return std::nullopt;
}

Difference run_case(const json::object& one) {
  const std::string kind = text(one, "kind");
  if (!is_known_kind(kind)) return "unknown kind " + kind;
  const json::array& variants = array_in(one, "variants");
  if (variants.empty()) return "no variants";
  for (const json::value& name : variants) {
    const std::string variant(name.as_string());
    if (auto difference = run_variant(one, variant)) return variant + ": " + *difference;
  }
  return std::nullopt;
}

// Boost.JSON throws if a field has an unexpected type. Such a case is reported as malformed.
Difference try_case(const json::object& one) {
  try {
    return find(one, "op") != nullptr ? run_preemption_case(one) : run_case(one);
  } catch (const std::exception& error) {
    return std::string("malformed: ") + error.what();
  }
}

Result<json::value> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Errc::unavailable, "cannot be read");
  const std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return sync::wire::parse_json(content);
}

std::string name_of(const json::object& one) { return text(one, "name", text(one, "id")); }

// The reason why this difference is accepted; empty if it is not. A difference of the plain
// behaviour is never accepted, because the case was written for it.
std::string_view accepted(const std::string& name, const std::string& difference) {
  return difference.starts_with("plain: ") ? std::string_view() : deviation_of(name);
}

void run_one(const std::string& file, const json::object& one, std::ostream& out, Tally& tally) {
  if (find(one, "op") != nullptr && !is_for_us(one)) {
    ++tally.other;
    return;
  }
  const std::string name = name_of(one);
  const Difference difference = try_case(one);
  const std::string_view reason = difference ? accepted(name, *difference) : std::string_view();
  if (!difference || !reason.empty()) {
    ++tally.passed;
  } else {
    ++tally.failed;
    out << "FAIL " << file << " " << name << ": " << *difference << "\n";
  }
  if (!reason.empty()) {
    out << "deviates " << file << " " << name << ": " << *difference << " (" << reason << ")\n";
  }
}

void run_file(const std::filesystem::path& path, std::ostream& out, Tally& tally) {
  const std::string file = path.filename().string();
  const auto content = read_file(path);
  if (!content || !content->is_object()) {
    out << "FAIL " << file << ": " << (content ? "no object" : content.error().what) << "\n";
    ++tally.failed;
    return;
  }
  for (const json::value& line : array_in(content->get_object(), "cases")) {
    if (line.is_object()) {
      run_one(file, line.get_object(), out, tally);
    } else {
      out << "FAIL " << file << " (no object): no object\n";
      ++tally.failed;
    }
  }
}

}  // namespace

void run_folder(const std::filesystem::path& folder, std::ostream& out, Tally& tally) {
  std::error_code ec;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (ec || files.empty()) {
    out << "FAIL " << folder.string() << ": " << (ec ? ec.message() : "no cases") << "\n";
    ++tally.failed;
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) run_file(file, out, tally);
}

}  // namespace holdfast::cases
