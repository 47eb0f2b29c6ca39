import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Variables } from "#config/index.ts";

/** Input and output of a command. */
export interface Terminal {
  readonly variables: Variables;
  /** Standard output is a terminal. */
  readonly interactive: boolean;
  /** Reads a secret: typed without echo at a terminal, otherwise all of standard input without the last line ending. */
  secret(question: string): Promise<string>;
  /** Asks a yes/no question; null if there is no terminal. */
  confirm(question: string): Promise<boolean | null>;
  /** Writes to standard output. Throws OutputClosed if it was closed. */
  write(text: string): Promise<void>;
  /** Writes to standard output without waiting or errors. */
  print(text: string): void;
  /** Writes to standard error. */
  printError(line: string): void;
  /** Resolves when everything is written. */
  flushed(): Promise<void>;
}

/** The reader of standard output has gone (`sluice … | head`), which is no failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

export function createTerminal(variables: Variables): Terminal {
  let broken: Error | null = null;
  process.stdout.on("error", (error) => {
    broken ??= error;
  });
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (broken !== null) {
        reject(asOutputError(broken));
        return;
      }
      process.stdout.write(text, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(asOutputError(error));
      });
    });
  return {
    variables,
    interactive: process.stdout.isTTY === true,
    secret: readSecret,
    confirm: readYes,
    write,
    print: (text) => void write(text).catch(() => {}),
    printError: (line) => void process.stderr.write(`${line}\n`),
    flushed: async () => {
      const complained = new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
      await Promise.all([write("").catch(() => {}), complained]);
    },
  };
}

/** A closed pipe is no failure; a full disk is. */
function asOutputError(error: Error): Error {
  return "code" in error && error.code === "EPIPE" ? new OutputClosed() : error;
}

const secretBytesMax = 64 * 1024;

async function readSecret(question: string): Promise<string> {
  return process.stdin.isTTY === true ? await asked(question) : await readSecretFrom(process.stdin, "standard input");
}

/** Everything except yes means no. */
async function readYes(question: string): Promise<boolean | null> {
  if (process.stdin.isTTY !== true) return null;
  const line = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    line.once("close", () => resolve(""));
    line.question(question, resolve);
  });
  line.close();
  return /^\s*y(es)?\s*$/i.test(answer);
}

/** Reads at most 64 KiB, without the last line ending. `name`: of the stream, for the error. */
export async function readSecretFrom(stream: AsyncIterable<unknown>, name: string): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += (piece as Buffer).length;
    if (size > secretBytesMax) throw new CommandFailed(`${name} is larger than ${secretBytesMax / 1024} KiB`);
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** Asks twice to detect typing errors. */
async function asked(question: string): Promise<string> {
  const first = await typed(`${question}: `);
  if ((await typed("Repeat: ")) === first) return first;
  throw new CommandFailed("the two inputs differ; nothing was changed");
}

function typed(question: string): Promise<string> {
  // Suppresses the echo.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const line = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(question);
  return new Promise((resolve, reject) => {
    line.once("SIGINT", () => line.close());
    line.once("line", (text) => {
      line.removeAllListeners("close");
      line.close();
      process.stderr.write("\n");
      resolve(text);
    });
    line.once("close", () => {
      process.stderr.write("\n");
      reject(new CommandFailed("no input; nothing was changed"));
    });
  });
}

/** The command failed; the message is printed as one line. Exit status 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** The command line is wrong. Exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command failed and printed the reason already. */
export class ReportedFailure extends Error {
  override readonly name = "ReportedFailure";
  readonly status: number;

  constructor(status: number) {
    super(`ended with status ${status}`);
    this.status = status;
  }
}
