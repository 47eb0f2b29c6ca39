// Simulates a full disk for one process: a file size limit (RLIMIT_FSIZE) that makes every write to a file fail. It needs
// no privileges beyond access to the process, and can be undone. Requires Linux and util-linux's `prlimit`.
import { spawnSync } from "node:child_process";

/** Whether this machine supports it: Linux with util-linux. */
export function canFillDisks() {
  return process.platform === "linux" && spawnSync("prlimit", ["--version"], { stdio: "ignore" }).status === 0;
}

/** Returns false if the process has ended. `user`: the owner of the process (uid, gid), if it is not the current user. */
export function fillDisk(pid, user = {}) {
  return limitFiles(pid, user, "1");
}

export function freeDisk(pid, user = {}) {
  return limitFiles(pid, user, "unlimited");
}

/** Sets only the soft limit, because a lowered hard limit cannot be raised again. */
function limitFiles(pid, user, bytes) {
  const options = { ...user, cwd: "/", stdio: "ignore", timeout: 10_000 };
  const done = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`], options);
  return done.status === 0;
}
