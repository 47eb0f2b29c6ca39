import { importProducts } from "#ports/index.ts";
import type { CliCommand } from "../cli-command.ts";
import type { ImportOptions } from "../imports/import-options.ts";

const sources: Readonly<Record<(typeof importProducts)[number], string>> = {
  litellm: "its config.yaml, its PostgreSQL database (--database), or both",
  "new-api": "its database: a SQLite file, or a postgres:// or mysql:// address",
  bifrost: "its config.json, its database (--database), or both",
  portkey: "a file with its virtual keys and configs, as its API returns them",
  openrouter: "its list of keys, as its API returns it at https://openrouter.ai/api/v1/keys",
};

export function addImport(program: CliCommand): void {
  const parent = program
    .command("import")
    .description("import the configuration of another gateway; callers keep their secrets where that is possible");
  for (const product of importProducts) {
    parent
      .command(product)
      .description(`plan or apply an import of ${sources[product]}`)
      .option("--from <source>", "a file or an https address")
      .option("--database <url>", "its database; only read")
      .option("--plan", "print what would be made, and what cannot be imported (default)")
      .option("--apply", "import it")
      .option("--undo <id>", "remove what this import made, except objects that were changed since")
      .action(async (options: ImportOptions, command: CliCommand) => {
        const { importFrom } = await import("../imports/import-command.ts");
        await importFrom(product, options, command);
      });
  }
}
