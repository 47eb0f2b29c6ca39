import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";

export function addSchema(program: Command, terminal: Terminal): void {
  program
    .command("schema")
    .description("print the JSON Schema of the config file, for editors")
    .action(async () => {
      const { configJsonSchemaText } = await import("@sluice/contract");
      await terminal.write(configJsonSchemaText());
    });
}
