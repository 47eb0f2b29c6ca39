import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sluice } from "./command-line.ts";

const begin = "<!-- commands: written by `bun gateway/test/write-cli-reference.ts` -->";
const end = "<!-- end of commands -->";

export const cliReferencePage: string = join(import.meta.dir, "..", "..", "docs", "cli.md");

/** Replaces the commands on the page by the program's own help. */
export async function withCommands(page: string): Promise<string> {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/cli.md needs the lines "${begin}" and "${end}"`);
  const commands = await commandsBelow([]);
  return `${page.slice(0, from + begin.length)}\n\n${commands.join("\n\n")}\n\n${page.slice(to)}`;
}

/** A section for each command below `path`, in the order of the help. */
async function commandsBelow(path: readonly string[]): Promise<string[]> {
  const help = await helpOf(path);
  const names = [...(/^Commands:\n((?: {2}.*\n?)+)/m.exec(help)?.[1] ?? "").matchAll(/^ {2}([a-z][\w-]*)/gm)];
  const below: string[] = [];
  for (const [, name = ""] of names) below.push(...(await commandsBelow([...path, name])));
  return path.length === 0 ? below : [section(path, help), ...below];
}

/** The help of a command without the options and commands that every command has. */
async function helpOf(path: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await sluice([...path, "--help"], "/nonexistent");
  if (status !== 0) throw new Error(`sluice ${path.join(" ")} --help: ${stderr}`);
  return stdout
    .replace(/^ {2}-h, --help +show help\n/m, "")
    .replace(/^ {2}help \[command\] +show help\n/m, "")
    .replace(/^Options:\n\n?(?=[A-Z]|$(?![\s\S]))/m, "")
    .trimEnd();
}

/** A heading, the description as a sentence, and the rest as the program prints it. */
function section(path: readonly string[], help: string): string {
  const [usage = "", description = "", ...rest] = help.split("\n\n");
  const sentence = description.replaceAll("\n", " ").replace(/^./, (letter) => letter.toUpperCase());
  const printed = [usage.replace("Usage: ", ""), ...rest].join("\n\n");
  const level = path.length === 1 ? "##" : "###";
  return `${level} sluice ${path.join(" ")}\n\n${sentence}.\n\n\`\`\`\n${printed}\n\`\`\``;
}

if (import.meta.main) writeFileSync(cliReferencePage, await withCommands(readFileSync(cliReferencePage, "utf8")));
