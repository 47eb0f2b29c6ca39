import { bareEnvironment } from "../../test/bare-environment.ts";
import { runCli } from "../src/cli/program.ts";

/** What a command line has said and how it ended, as whoever started it sees it. */
export interface Answer {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command line, run in this process. What a process adds to that has tests of its own in cli.test.ts. */
export async function sluice(
  words: readonly string[],
  dataDir: string,
  variables: Readonly<Record<string, string>> = {},
  /** What comes on standard input. */
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
