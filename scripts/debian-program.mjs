// A program that tests need: found, or installed where this machine lets us.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** `names`: any of these will do. `debian`: the package that brings one. `title` and `tests` say what of it is missing. */
export function ensureProgram({ names, debian, title, tests }) {
  if (names.some(onPath)) return;
  if (!mayInstall()) {
    const why = onPath("apt-get") ? "only root may install one" : "there is no apt-get to install one";
    console.error(`No ${title} is installed, and ${why}; ${tests} will be skipped.`);
    return;
  }
  console.error(`Installing ${title} for ${tests} …`);
  if (installPackage(debian)) return;
  console.error(`${title} could not be installed (see above); ${tests} will be skipped.`);
}

/** Whether this machine lets us install a package. */
function mayInstall() {
  return process.getuid?.() === 0 && onPath("apt-get");
}

/** Installs what there is something else for: only when it comes at once, and without a word when it does not. */
export function installIfEasy(name) {
  if (!mayInstall()) return false;
  const quickly = ["-o", "Acquire::http::Timeout=5", "-o", "Acquire::Retries=0"];
  const install = (...words) => apt(["install", "-y", "--no-install-recommends", ...words, name], "ignore");
  return install("--download-only", ...quickly) && install();
}

/** Installs a package of Debian's; whether that went well. */
export function installPackage(name) {
  const install = () => apt(["install", "-y", "--no-install-recommends", name]);
  if (install()) return true;
  apt(["update"]);
  return install();
}

function apt(words, errors = "inherit") {
  // In this run level no service that comes with a package is started.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  return spawnSync("apt-get", words, { stdio: ["ignore", "ignore", errors], env, timeout: 300_000 }).status === 0;
}

/** Whether a program of this name is found. */
export function onPath(name) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
