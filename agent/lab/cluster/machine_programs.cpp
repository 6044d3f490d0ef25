#include "agent/lab/cluster/machine_programs.h"

#include "platform/proc/notify.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {

std::string machine_path() {
  return proc::system_environment("PATH").value_or("/usr/bin:/bin") + ":/usr/sbin:/sbin";
}

Result<std::filesystem::path> find_machine_program(std::string_view flag,
                                                   const MachineProgram& program) {
  const std::string path = machine_path();
  for (const std::string_view folder : split(path, ':')) {
    std::error_code ec;
    std::filesystem::path file = std::filesystem::path(folder) / program.name;
    if (!folder.empty() && std::filesystem::exists(file, ec)) return file;
  }
  return fail(Errc::not_found, std::string(flag) + ": this machine has no " +
                                   std::string(program.name) + "; install the package " +
                                   std::string(program.package));
}

}  // namespace holdfast::agent::lab::cluster
