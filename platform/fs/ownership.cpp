#include "platform/fs/ownership.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "platform/fs/errno.h"
#include "platform/text.h"

namespace holdfast::fs {
namespace {

constexpr mode_t others_write = S_IWOTH;
constexpr mode_t foreign_write = S_IWGRP | S_IWOTH;
constexpr mode_t foreign_any = S_IRWXG | S_IRWXO;

bool is_ours(const struct stat& facts) { return facts.st_uid == 0 || facts.st_uid == ::geteuid(); }

std::string mode_text(const struct stat& facts) {
  std::array<char, 8> text{};
  (void)std::snprintf(text.data(), text.size(), "%04o", facts.st_mode & 07777U);
  return text.data();
}

tl::unexpected<Error> refuse(const Path& path, const std::string& why, const std::string& command) {
  return fail(Errc::denied, path.string() + " " + why + "; run: " + command + " " + path.string());
}

Status check_owner(const Path& path, const struct stat& facts) {
  if (is_ours(facts)) return {};
  const std::string us = std::to_string(::geteuid());
  return refuse(path, "belongs to user " + std::to_string(facts.st_uid), "chown " + us);
}

Status check_written_by_us_alone(const Path& path, const struct stat& facts) {
  if (auto owned = check_owner(path, facts); !owned) return owned;
  if ((facts.st_mode & foreign_write) == 0) return {};
  return refuse(path, "has mode " + mode_text(facts) + ": others may write to it", "chmod go-w");
}

Status check_regular(const Path& path, const struct stat& facts) {
  if (S_ISREG(facts.st_mode)) return {};
  const char* what = S_ISLNK(facts.st_mode) ? "is a symbolic link" : "is not a regular file";
  return fail(Errc::denied, path.string() + " " + what + "; move it out of the way");
}

// Checks a directory, or a link to one, that lies above a directory of ours.
Status check_on_the_way(const Path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return fail_errno(path.string());
  if (auto owned = check_owner(path, facts); !owned) return owned;
  if (S_ISLNK(facts.st_mode) || (facts.st_mode & S_ISVTX) != 0) return {};
  const bool harmless_group = facts.st_gid == 0 || facts.st_gid == ::getegid();
  const mode_t foreign = harmless_group ? others_write : foreign_write;
  if ((facts.st_mode & foreign) == 0) return {};
  return refuse(path, "has mode " + mode_text(facts) + ": others may replace what is in it",
                "chmod go-w");
}

// Checks every directory above `path`, which is absolute.
Status check_all_above(const Path& path) {
  Path above;
  const Path parent = path.parent_path();
  for (const Path& part : parent) {
    above /= part;
    if (auto safe = check_on_the_way(above); !safe) return safe;
  }
  return {};
}

// What users other than the owner may do with a file: "read", "write" or "read and write".
std::string foreign_rights(mode_t mode) {
  const bool write = (mode & foreign_write) != 0;
  const bool read = (mode & (S_IRGRP | S_IROTH)) != 0;
  if (read && write) return "read and write";
  return write ? "write" : "read";
}

// A file that was opened for reading, and its stat() at that time.
struct Opened {
  Descriptor descriptor;
  struct stat facts {};
};

Result<Opened> open_regular(const Path& file, int flags) {
  Opened opened;
  TRY(opened.descriptor, open_to_read(file, flags));
  if (::fstat(opened.descriptor.get(), &opened.facts) != 0) return fail_errno(file.string());
  if (auto regular = check_regular(file, opened.facts); !regular) return fail(regular.error());
  return opened;
}

}  // namespace

Status check_own_dir(const Path& dir) {
  std::error_code ec;
  Path whole = std::filesystem::absolute(dir, ec).lexically_normal();
  if (ec) return fail_errno(dir.string(), ec.value());
  if (!whole.has_filename()) whole = whole.parent_path();
  struct stat facts {};
  if (::lstat(whole.c_str(), &facts) != 0) return fail_errno(dir.string());
  if (S_ISLNK(facts.st_mode)) {
    return fail(Errc::denied, dir.string() + " is a symbolic link; name the directory itself");
  }
  if (!S_ISDIR(facts.st_mode)) return fail(Errc::conflict, dir.string() + " is not a directory");
  if (auto ours = check_written_by_us_alone(whole, facts); !ours) return ours;
  if (auto safe = check_all_above(whole); !safe) return safe;
  // The check above followed the name as it was given; check the resolved path as well.
  const Path real = std::filesystem::canonical(whole, ec);
  if (ec) return fail_errno(dir.string(), ec.value());
  return real == whole ? Status() : check_all_above(real);
}

Status ensure_own_dir(const Path& dir, mode_t mode) {
  if (auto made = ensure_dir(dir, mode); !made) return made;
  return check_own_dir(dir);
}

Status check_own_file(const Path& file) {
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno(file.string());
  }
  if (auto regular = check_regular(file, facts); !regular) return regular;
  return check_written_by_us_alone(file, facts);
}

Result<std::string> read_own(const Path& file, std::size_t limit) {
  struct stat facts {};
  const bool link = ::lstat(file.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
  if (link) return fail(check_regular(file, facts).error());
  TRY(const Opened opened, open_regular(file, O_NOFOLLOW));
  auto ours = check_written_by_us_alone(file, opened.facts);
  if (!ours) return fail(ours.error());
  return read_rest(opened.descriptor, file, limit);
}

Result<std::string> read_secret(const Path& file, std::size_t limit) {
  TRY(const Opened opened, open_regular(file, 0));
  if (auto owned = check_owner(file, opened.facts); !owned) return fail(owned.error());
  if ((opened.facts.st_mode & foreign_any) != 0) {
    return refuse(file, "has mode " + mode_text(opened.facts) + ": others may read this secret",
                  "chmod 600");
  }
  return read_rest(opened.descriptor, file, limit);
}

Result<std::string> read_trusted(const Path& file, std::size_t limit) {
  TRY(const Opened opened, open_regular(file, 0));
  auto ours = check_written_by_us_alone(file, opened.facts);
  if (!ours) return fail(ours.error());
  return read_rest(opened.descriptor, file, limit);
}

Result<ForeignSecret> read_foreign_secret(const Path& file, std::size_t limit) {
  TRY(const Opened opened, open_regular(file, 0));
  const mode_t mode = opened.facts.st_mode;
  if ((mode & others_write) != 0) {
    return refuse(file, "has mode " + mode_text(opened.facts) + ": everybody may replace it",
                  "chmod go-w");
  }
  ForeignSecret secret;
  TRY(secret.bytes, read_rest(opened.descriptor, file, limit));
  std::vector<std::string> warnings;
  if ((mode & foreign_any) != 0) {
    warnings.push_back(file.string() + " has mode " + mode_text(opened.facts) +
                       ": users besides its owner may " + foreign_rights(mode) +
                       " this secret; run: chmod 600 " + file.string());
  }
  if (!is_ours(opened.facts)) {
    warnings.push_back(file.string() + " belongs to user " + std::to_string(opened.facts.st_uid) +
                       ", who may replace it");
  }
  secret.warning = join(warnings, "; ");
  return secret;
}

}  // namespace holdfast::fs
