// The browser of the console's tests.
import { ensureProgram } from "./debian-program.mjs";

export function ensureBrowser() {
  ensureProgram({
    names: ["chromium", "chromium-browser", "google-chrome"],
    debian: "chromium",
    title: "Chromium",
    tests: "the browser tests",
  });
}
