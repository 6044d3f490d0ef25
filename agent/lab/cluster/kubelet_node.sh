#!/bin/sh
# The surroundings of a kubelet: mounts, a host name and control groups of its own, in the network namespace in which
# this is started. The kubelet removes every pod's control group that it does not know, with the processes in it, so it
# must not see those of the machine. This needs cgroup v1: a group of v2 that contains processes has no controllers.
#
#   kubelet_node.sh boot GROUP NAME ADDRESS FOLDER   makes them; run by `unshare --mount --uts --ipc`. Never ends.
#   kubelet_node.sh enter GROUP PID PROGRAM ARG...   runs a program in those of the process PID, in place of this shell
set -eu

hierarchies() { # the mounts of control groups: "FOLDER TYPE OPTIONS"
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2, $3, $4 }' /proc/mounts
}

join() { # GROUP
  hierarchies | while read -r folder type options; do
    mkdir -p "$folder/$1"
    for file in cpuset.cpus cpuset.mems; do # empty in a new group, and no process can join it then
      [ ! -e "$folder/$1/$file" ] || cat "$folder/$file" >"$folder/$1/$file"
    done
    echo $$ >"$folder/$1/cgroup.procs"
  done
}

mount_groups() { # mounts the hierarchies again: their roots are now the node's groups
  hierarchies | while read -r folder type options; do
    only=$(echo "$options" | tr , '\n' | grep -vxE 'rw|relatime|nosuid|nodev|noexec|nsdelegate' | paste -sd, -) || true
    umount "$folder"
    mount -t "$type" ${only:+-o "$only"} "$type" "$folder"
  done
}

add_address() { # ADDRESS; the network namespace outlives a power loss
  if ip link show node0 >/dev/null 2>&1; then return; fi
  ip link add node0 type veth peer name wire0
  ip link set node0 up
  ip link set wire0 up
  ip address add "$1/24" dev node0
}

case $1 in
  boot)
    join "$2"
    shift 2
    exec unshare --cgroup /bin/sh "$0" booted "$@"
    ;;
  booted)
    mount_groups
    add_address "$3"
    hostname "$2"
    cat /proc/sys/kernel/random/uuid >"$4/boot-id"
    mount --bind "$4/boot-id" /proc/sys/kernel/random/boot_id
    mount --make-rshared / # containers need mount propagation
    echo "booted name=$2"
    exec sleep infinity
    ;;
  enter)
    join "$2"
    pid=$3
    shift 3
    exec nsenter --target "$pid" --mount --uts --ipc --cgroup -- "$@"
    ;;
esac
