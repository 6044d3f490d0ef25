#include "test/attack/program.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace holdfast::attack {
namespace {

// The loopback interface of a new network namespace is down at first.
bool enter_own_network() {
  if (unshare(CLONE_NEWNET) != 0) return false;
  const Socket any(::socket(AF_INET, SOCK_DGRAM, 0));
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ioctl(any.fd(), SIOCSIFFLAGS, &request) == 0;
}

// Makes socket(AF_NETLINK, ..., NETLINK_SOCK_DIAG) fail; all other calls are allowed.
bool forbid_sock_diag() {
  const auto argument = [](unsigned which) {
    return static_cast<unsigned>(offsetof(seccomp_data, args) + which * sizeof(std::uint64_t));
  };
  const std::array<sock_filter, 8> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_SOCK_DIAG, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  std::array<sock_filter, 8> filter = code;
  const sock_fprog program{filter.size(), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[noreturn]] void become(const Launch& launch, char* const* argv) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int log = ::open(launch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int none = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)dup2(none, 0);
  (void)dup2(log, 1);
  (void)dup2(log, 2);
  if (launch.own_network && !enter_own_network()) _exit(125);
  if (launch.without_sock_diag && !forbid_sock_diag()) _exit(125);
  (void)execv(argv[0], argv);
  _exit(126);
}

}  // namespace

std::string& bin_dir() {
  static std::string dir = [] {
    const char* given = std::getenv("HOLDFAST_BIN_DIR");
    return std::string(given != nullptr ? given : HOLDFAST_BIN_DIR);
  }();
  return dir;
}

bool sanitized() {
  static const bool is = [] {
    const std::string bytes = read_file(bin_dir() + "/holdfast-edge");
    return bytes.find("__asan_init") != std::string::npos ||
           bytes.find("__tsan_init") != std::string::npos;
  }();
  return is;
}

std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string& file, const std::string& text, mode_t mode) {
  std::ofstream(file, std::ios::binary) << text;
  (void)chmod(file.c_str(), mode);
}

Program::Program(const Launch& launch) {
  std::vector<std::string> argv = launch.argv;
  if (argv[0].find('/') == std::string::npos) argv[0] = bin_dir() + "/" + argv[0];
  std::vector<char*> pointers;
  for (std::string& text : argv) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) become(launch, pointers.data());
}

bool Program::running() { return !wait(0ms).has_value(); }

std::optional<int> Program::wait(Duration limit) {
  const auto ended = [this] {
    (void)peak();
    int status = 0;
    if (!reaped_ && waitpid(pid_, &status, WNOHANG) == pid_) {
      reaped_ = true;
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return reaped_;
  };
  if (!eventually(limit, ended)) return std::nullopt;
  return code_;
}

void Program::signal(int number) const {
  if (!reaped_) (void)::kill(pid_, number);
}

void Program::kill() {
  if (reaped_ || pid_ <= 0) return;
  (void)peak();
  signal(SIGKILL);
  (void)waitpid(pid_, nullptr, 0);
  reaped_ = true;
  code_ = 128 + SIGKILL;
}

// Until exec() the child is a copy of this process with its memory size, so peaks do not count.
bool Program::has_begun() const {
  std::error_code ignored;
  const std::string proc = "/proc/" + std::to_string(pid_) + "/exe";
  const auto program = std::filesystem::read_symlink(proc, ignored);
  return program != std::filesystem::read_symlink("/proc/self/exe", ignored);
}

long Program::status(const char* name) const {
  if (reaped_ || !has_begun()) return 0;
  const std::string all = read_file("/proc/" + std::to_string(pid_) + "/status");
  const std::size_t at = all.find(std::string(name) + ":");
  return at == std::string::npos ? 0 : std::atol(all.c_str() + all.find(':', at) + 1);
}

long Program::peak() {
  peak_ = std::max(peak_, status("VmHWM"));
  return peak_;
}

long Program::resident() const { return status("VmRSS"); }

}  // namespace holdfast::attack
