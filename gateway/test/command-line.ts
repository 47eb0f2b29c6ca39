import { bareEnvironment } from "../../test/bare-environment.ts";
import { runCli } from "../src/cli/program.ts";

/** The output and exit status of a command. */
export interface Answer {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command in this process. cli.test.ts tests what a separate process adds. */
export async function sluice(
  words: readonly string[],
  dataDir: string,
  variables: Readonly<Record<string, string>> = {},
  /** Standard input. */
  stdin = "",
): Promise<Answer> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const status = await runCli(words, {
    variables: { ...bareEnvironment(), SLUICE_DATA_DIR: dataDir, ...variables },
    interactive: false,
    secret: async () => stdin,
    confirm: async () => (stdin === "" ? null : stdin === "y"),
    write: async (text) => void stdout.push(text),
    print: (text) => void stdout.push(text),
    printError: (line) => void stderr.push(`${line}\n`),
    flushed: async () => undefined,
  });
  return { status, stdout: stdout.join(""), stderr: stderr.join("") };
}
