// A program that tests need: found, or installed where this machine lets us.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** `names`: any of these will do. `debian`: the package that brings one. `title` and `tests` say what of it is missing. */
export function ensureProgram({ names, debian, title, tests }) {
  if (names.some(onPath)) return;
  if (process.getuid?.() !== 0 || !onPath("apt-get")) {
    const why = onPath("apt-get") ? "only root may install one" : "there is no apt-get to install one";
    console.error(`No ${title} is installed, and ${why}; ${tests} will be skipped.`);
    return;
  }
  console.error(`Installing ${title} for ${tests} …`);
  if (installPackage(debian)) return;
  console.error(`${title} could not be installed (see above); ${tests} will be skipped.`);
}

/** Installs a package of Debian's; whether that went well. */
export function installPackage(name) {
  // In this run level no service that comes with a package is started.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const apt = (...words) =>
    spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"], env, timeout: 300_000 }).status === 0;
  const install = () => apt("install", "-y", "--no-install-recommends", name);
  if (install()) return true;
  apt("update");
  return install();
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
