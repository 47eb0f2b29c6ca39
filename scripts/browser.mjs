// The browser of the console's tests: found, or installed where this machine lets us.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome"];

export function ensureBrowser() {
  if (names.some(onPath)) return;
  if (process.getuid?.() !== 0 || !onPath("apt-get")) {
    const why = onPath("apt-get") ? "only root may install one" : "there is no apt-get to install one";
    console.error(`No Chromium is installed, and ${why}; the browser tests will be skipped.`);
    return;
  }
  console.error("Installing Chromium for the browser tests …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...words) =>
    spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"], env, timeout: 300_000 });
  if (apt("install", "-y", "--no-install-recommends", "chromium").status === 0) return;
  apt("update");
  if (apt("install", "-y", "--no-install-recommends", "chromium").status === 0) return;
  console.error("Chromium could not be installed (see above); the browser tests will be skipped.");
}

function onPath(name) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
