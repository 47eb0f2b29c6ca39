import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { readEnvironment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { CommandFailed } from "../command-failed.ts";
import type { Terminal } from "../terminal.ts";
import { readRevision, version } from "../version.ts";

export function addDemo(program: Command, terminal: Terminal): void {
  program
    .command("demo")
    .description("run a throw-away gateway that answers offline and forgets everything at its end")
    .action(async () => {
      const { serve } = await import("#main.ts");
      const { SLUICE_CONFIG: _, ...others } = terminal.variables;
      const folder = mkdtempSync(join(tmpdir(), "sluice-demo-"));
      const variables = {
        ...others,
        SLUICE_DATA_DIR: folder,
        SLUICE_DRAIN_GRACE_MS: "0",
        // Never on the disk: a demo that is killed leaves a folder that nobody can read the secrets of.
        SLUICE_MASTER_KEY: randomBytes(32).toString("base64url"),
      };
      try {
        // Signals are listened for from here on: no pause lies between the folder and this call.
        // Without the vendors' variables, so that nothing leaves the machine.
        await serve(readEnvironment(variables), {
          variables,
          version,
          revision: readRevision(),
          print: (text) => terminal.show(text),
          interactive: terminal.interactive,
        });
      } finally {
        await remove(folder);
      }
    });
}

/** A thread that is just ending may write beside us, and the runtime then says nothing and leaves the folder. */
async function remove(folder: string): Promise<void> {
  for (let tries = 0; tries < removalsMax && existsSync(folder); tries++) {
    if (tries > 0) await new Promise<void>((resolve) => void systemClock.after(removalPauseMs, resolve));
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
  if (existsSync(folder)) throw new CommandFailed(`${folder} could not be removed`);
}

const removalsMax = 40;
const removalPauseMs = 50;
