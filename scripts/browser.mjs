// The browser of the console's tests: found, or installed where this machine lets us.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome"];

export function ensureBrowser() {
  if (names.some(onPath)) return;
  if (process.getuid?.() !== 0 || !onPath("apt-get")) {
    console.error("No Chromium is installed; the browser tests will be skipped.");
    return;
  }
  console.error("Installing Chromium for the browser tests …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...words) =>
    spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"], env, timeout: 300_000 });
  if (apt("install", "-y", "--no-install-recommends", "chromium").status === 0) return;
  apt("update");
  apt("install", "-y", "--no-install-recommends", "chromium");
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
