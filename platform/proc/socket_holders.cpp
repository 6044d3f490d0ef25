#include "platform/proc/socket_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "platform/text.h"

namespace holdfast::proc {
namespace {

constexpr std::size_t file_max = 64UL * 1024;
constexpr std::uint64_t root_cgroup = 1;  // the root's id in every kernfs hierarchy

struct CloseDir {
  void operator()(DIR* dir) const { (void)::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

Dir open_dir(const fs::Path& path) { return Dir(::opendir(path.c_str())); }

bool is_number(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Calls `visit` with each entry until it returns true. Returns whether it did.
bool any_entry(DIR* dir, const std::function<bool(const dirent&)>& visit) {
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && visit(*entry)) return true;
  }
  return false;
}

std::string link_target(int dir, const char* name) {
  std::array<char, 512> target{};
  const ssize_t size = ::readlinkat(dir, name, target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// "/usr/bin/curl (deleted)" -> "curl": the file of a running program was replaced by an upgrade.
std::string program_of(const std::string& executable) {
  constexpr std::string_view deleted = " (deleted)";
  std::string_view path = executable;
  if (path.ends_with(deleted)) path.remove_suffix(deleted.size());
  return base_name(path);
}

// The inodes of version 1 hierarchies must not be mistaken for ids of version 2 cgroups.
fs::Path version_2_root(const fs::Path& mount) {
  for (const fs::Path& root : {mount, mount / "unified"}) {
    if (::access((root / "cgroup.controllers").c_str(), F_OK) == 0) return root;
  }
  return {};
}

void put_first(std::deque<pid_t>& all, pid_t pid, std::size_t most) {
  std::erase(all, pid);
  all.push_front(pid);
  if (all.size() > most) all.pop_back();
}

}  // namespace

std::vector<std::string> cgroups_in(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second != line.npos) paths.emplace_back(line.substr(second + 1));
  }
  return paths;
}

SocketHolders::SocketHolders(const HolderLimits& limits, fs::Path proc, fs::Path cgroup_root)
    : limits_(limits),
      proc_(std::move(proc)),
      cgroup_root_(version_2_root(cgroup_root)),
      total_{.entries = limits.total.burst} {}

void SocketHolders::Budget::refill(const EntryRate& rate, MonoTime now) {
  if (refilled_at != MonoTime{} && now > refilled_at) {
    const double seconds = std::chrono::duration<double>(now - refilled_at).count();
    entries = std::min(rate.burst, entries + seconds * rate.per_second);
  }
  refilled_at = now;
}

// The refilled budget of the callers in this cgroup. The reference is valid until the next call.
SocketHolders::Budget& SocketHolders::budget_of(std::uint64_t cgroup, MonoTime now) {
  total_.refill(limits_.total, now);
  // The root's id, or 0, does not distinguish callers: all of them may be in it.
  const EntryRate& rate = cgroup <= root_cgroup ? limits_.total : limits_.each;
  const auto known = std::find_if(budgets_.begin(), budgets_.end(),
                                  [cgroup](const auto& each) { return each.cgroup == cgroup; });
  GroupBudget mine{.cgroup = cgroup, .budget = {.entries = rate.burst}};
  if (known != budgets_.end()) {
    mine = *known;
    budgets_.erase(known);
  }
  mine.budget.refill(rate, now);
  budgets_.push_front(mine);
  if (budgets_.size() > limits_.cgroups_known) budgets_.pop_back();
  return budgets_.front().budget;
}

double SocketHolders::left(const Budget& own) const {
  return std::max(0.0, std::min(own.entries, total_.entries));
}

void SocketHolders::spend(Budget& own, double entries) {
  own.entries -= entries;
  total_.entries -= entries;
}

SocketHolders::Look SocketHolders::look(pid_t pid, const std::string& link,
                                        std::size_t entries_max) const {
  Look result;
  const Dir descriptors = open_dir(proc_ / std::to_string(pid) / "fd");
  if (!descriptors) return result;
  const int at = ::dirfd(descriptors.get());
  (void)any_entry(descriptors.get(), [at, entries_max, &link, &result](const dirent& entry) {
    result.whole = result.entries < entries_max;
    if (!result.whole) return true;
    ++result.entries;
    result.found = link_target(at, entry.d_name) == link;
    return result.found;
  });
  return result;
}

SocketHolder SocketHolders::describe(pid_t pid) const {
  const fs::Path process = proc_ / std::to_string(pid);
  SocketHolder holder{.pid = pid};
  holder.program = program_of(link_target(AT_FDCWD, (process / "exe").c_str()));
  if (const auto text = fs::read_all(process / "cgroup", file_max)) {
    holder.cgroups = cgroups_in(*text);
  }
  if (const auto words = fs::read_all(process / "cmdline", file_max)) {
    holder.called.push_back(base_name(words->substr(0, words->find('\0'))));
  }
  if (const auto name = fs::read_all(process / "comm", file_max)) {
    holder.called.emplace_back(trim(*name));
  }
  return holder;
}

std::optional<pid_t> SocketHolders::find_remembered(const std::string& link) const {
  for (const auto* pids : {&remembered_, &relays_}) {
    const auto known = std::find_if(pids->begin(), pids->end(), [this, &link](pid_t pid) {
      return look(pid, link, limits_.descriptors_first).found;
    });
    if (known != pids->end()) return *known;
  }
  return std::nullopt;
}

// Searches the descriptors of all processes. Errors: not_found, exhausted.
Result<pid_t> SocketHolders::search(const std::string& link, Budget& own) {
  const Dir processes = open_dir(proc_);
  if (!processes) return fail(Errc::not_found, proc_.string() + " cannot be read");
  std::optional<pid_t> found;
  bool whole = true;
  (void)any_entry(processes.get(), [this, &link, &own, &found, &whole](const dirent& entry) {
    if (!is_number(entry.d_name)) return false;
    const auto most = std::min(limits_.descriptors, static_cast<std::size_t>(left(own)));
    if (most == 0) whole = false;
    if (most == 0) return true;
    const auto pid = parse_int<pid_t>(entry.d_name).value_or(0);
    const Look seen = look(pid, link, most);
    spend(own, 1 + static_cast<double>(seen.entries));
    whole = whole && seen.whole;
    if (seen.found) found = pid;
    return seen.found;
  });
  if (found) return *found;
  if (!whole) return fail(Errc::exhausted, "the search for " + link + " was incomplete");
  return fail(Errc::not_found, "no process was found that holds " + link);
}

Result<SocketHolder> SocketHolders::find(std::uint64_t inode, std::uint64_t cgroup, MonoTime now) {
  const std::string link = "socket:[" + std::to_string(inode) + "]";
  if (const auto known = find_remembered(link)) return describe(*known);
  TRY(const pid_t found, search(link, budget_of(cgroup, now)));
  return describe(found);
}

void SocketHolders::remember(pid_t pid) { put_first(remembered_, pid, limits_.remembered); }

void SocketHolders::remember_relay(pid_t pid) { put_first(relays_, pid, limits_.remembered); }

std::optional<std::string> SocketHolders::cgroup_path(std::uint64_t id, MonoTime now) {
  if (id <= root_cgroup || cgroup_root_.empty()) return std::nullopt;
  const auto known = std::find_if(cgroups_.begin(), cgroups_.end(),
                                  [id](const Known& each) { return each.id == id; });
  if (known != cgroups_.end() && (known->path || now < known->until)) return known->path;
  if (known != cgroups_.end()) cgroups_.erase(known);
  Budget& own = budget_of(id, now);
  const auto path = search_cgroup(id, own);
  // A search that ran out of budget proves nothing and is not cached.
  if (!path && left(own) <= 0) return std::nullopt;
  cgroups_.push_front({.id = id, .path = path, .until = now + limits_.missing});
  if (cgroups_.size() > limits_.cgroups_known) cgroups_.pop_back();
  return path;
}

std::optional<std::string> SocketHolders::search_cgroup(std::uint64_t id, Budget& own) {
  std::deque<std::string> waiting{""};
  std::string found;
  for (std::size_t read = 0; !waiting.empty() && read < limits_.cgroup_directories; ++read) {
    if (left(own) <= 0) return std::nullopt;
    spend(own, limits_.directory_entries);
    const std::string path = std::move(waiting.front());
    waiting.pop_front();
    const Dir dir = open_dir(cgroup_root_ / path.substr(path.empty() ? 0 : 1));
    const bool any =
        dir && any_entry(dir.get(), [id, &path, &found, &waiting](const dirent& entry) {
          if (entry.d_type != DT_DIR) return false;
          found = path + "/" + entry.d_name;
          if (entry.d_ino == id) return true;
          waiting.push_back(found);
          return false;
        });
    if (any) return found;
  }
  return std::nullopt;
}

std::vector<std::string> SocketHolders::own_cgroups() const {
  const auto text = fs::read_all(proc_ / "self" / "cgroup", file_max);
  return text ? cgroups_in(*text) : std::vector<std::string>{};
}

bool SocketHolders::sees_all() const {
  const Dir descriptors = open_dir(proc_ / "1" / "fd");
  if (!descriptors) return false;
  const int at = ::dirfd(descriptors.get());
  return any_entry(descriptors.get(),
                   [at](const dirent& entry) { return !link_target(at, entry.d_name).empty(); });
}

}  // namespace holdfast::proc
