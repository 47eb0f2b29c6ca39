// Makes the disk of a process full, for that process alone: a limit of the size of files (RLIMIT_FSIZE), with which every write to a file
// fails. It needs no right but that to the process, and is taken back without one. Linux, with util-linux's `prlimit`.
import { spawnSync } from "node:child_process";

/** Whether this machine can do it. */
export function canFillDisks() {
  return process.platform === "linux" && spawnSync("prlimit", ["--version"], { stdio: "ignore" }).status === 0;
}

/** False where a process has gone meanwhile. `user`: whose process it is (uid, gid), where it is not this one's. */
export function fillDisk(pid, user = {}) {
  return limitFiles(pid, user, "1");
}

export function freeDisk(pid, user = {}) {
  return limitFiles(pid, user, "unlimited");
}

/** Only the soft limit: whoever lowers the hard one cannot raise it again. */
function limitFiles(pid, user, bytes) {
  const options = { ...user, cwd: "/", stdio: "ignore", timeout: 10_000 };
  const told = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`], options);
  return told.status === 0;
}
