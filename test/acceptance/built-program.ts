import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./child.ts";

/** Runs a build script of this repository with a temporary output folder. */
export async function buildInFolder(
  script: string,
  ...words: readonly string[]
): Promise<{ readonly folder: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-built-"));
  const child = Bun.spawn(["node", join(root, "scripts", script), "--out", folder, ...words], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const [text, status] = await Promise.all([child.stderr.text(), child.exited]);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (status === 0) return { folder, remove };
  remove();
  throw new Error(text);
}
