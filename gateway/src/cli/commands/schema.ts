import { configJsonSchemaText } from "@sluice/contract";
import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";

export function addSchema(program: Command, terminal: Terminal): void {
  program
    .command("schema")
    .description("print the JSON Schema of the config file, for editors")
    .action(() => terminal.write(configJsonSchemaText()));
}
