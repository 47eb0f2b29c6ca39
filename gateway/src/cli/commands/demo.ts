import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { readEnvironment } from "#config/index.ts";
import { serve } from "#main.ts";
import type { Terminal } from "../terminal.ts";
import { version } from "../version.ts";

export function addDemo(program: Command, terminal: Terminal): void {
  program
    .command("demo")
    .description("run a throw-away gateway that answers offline and forgets everything at its end")
    .action(async () => {
      const folder = await mkdtemp(join(tmpdir(), "sluice-demo-"));
      const { SLUICE_CONFIG: _, ...others } = terminal.variables;
      const variables = { ...others, SLUICE_DATA_DIR: folder };
      try {
        // Without the vendors' variables, so that nothing leaves the machine.
        await serve(readEnvironment(variables), {
          variables,
          version,
          print: (text) => terminal.show(text),
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}
