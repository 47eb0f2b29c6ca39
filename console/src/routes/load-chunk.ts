import { connected, reportLost } from "../client/connection.ts";

/** A reload that did not help is not repeated at once. */
const reloadedName = "sluice:reloaded";
const reloadAgainMs = 60_000;

/**
 * Loads a part of the console. While the gateway is unreachable, it waits and tries again. If the gateway answers but the file is gone,
 * the gateway has a new version of the console, and the page is loaded again.
 */
export async function loadChunk<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch {
    reportLost();
    await connected();
  }
  try {
    return await load();
  } catch (thrown) {
    if (!reloadOnce()) throw thrown;
    return await new Promise<never>(() => undefined);
  }
}

function reloadOnce(): boolean {
  const at = Number(sessionStorage.getItem(reloadedName) ?? 0);
  if (Date.now() - at < reloadAgainMs) return false;
  sessionStorage.setItem(reloadedName, String(Date.now()));
  location.reload();
  return true;
}
