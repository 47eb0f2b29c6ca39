// The browser of the console's tests.
import { ensureProgram, installIfEasy, onPath } from "./debian-program.mjs";

/** Chromium without a window of its own: the same engine, for a fifth less processor time. */
const withoutWindow = "chromium-headless-shell";

export function ensureBrowser() {
  if (onPath(withoutWindow) || installIfEasy(withoutWindow)) return;
  ensureProgram({
    names: ["chromium", "chromium-browser", "google-chrome"],
    debian: "chromium",
    title: "Chromium",
    tests: "the browser tests",
  });
}
