import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Variables } from "#config/index.ts";

/** What a command sees of the world it was started in. */
export interface Terminal {
  readonly variables: Variables;
  /** Standard output is a person's screen. */
  readonly interactive: boolean;
  /**
   * A secret from standard input: what somebody types without seeing it, where that is a terminal; else all that comes, without
   * its last line end.
   */
  secret(question: string): Promise<string>;
  /** Whether somebody at the terminal says yes; null: there is nobody to ask. */
  confirm(question: string): Promise<boolean | null>;
  /** To standard output; resolves when it may be given more. Throws OutputClosed when nobody reads any more. */
  write(text: string): Promise<void>;
  /** To standard output without waiting; whoever is not there to read it misses it. */
  show(text: string): void;
  /** To standard error. */
  complain(line: string): void;
  /** Resolves when everything written has left. */
  flushed(): Promise<void>;
}

/** The reader of standard output has gone (`sluice … | head`): the command may stop, and that is no failure. */
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
    show: (text) => void write(text).catch(() => {}),
    complain: (line) => void process.stderr.write(`${line}\n`),
    flushed: async () => {
      const complained = new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
      await Promise.all([write("").catch(() => {}), complained]);
    },
  };
}

/** A pipe that nobody reads is no failure; an answer that did not fit on a full disk is one. */
function asOutputError(error: Error): Error {
  return "code" in error && error.code === "EPIPE" ? new OutputClosed() : error;
}

const secretBytesMax = 64 * 1024;

/** From standard input: asked for on a terminal, and not shown there; else all of it without the last line end. */
async function readSecret(question: string): Promise<string> {
  return process.stdin.isTTY === true ? await asked(question) : await piped();
}

/** null: standard input is no terminal. Whatever is not yes is no. */
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

async function piped(): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin) {
    size += (piece as Buffer).length;
    if (size > secretBytesMax) throw new CommandFailed(`standard input is larger than ${secretBytesMax / 1024} KiB`);
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** Twice, because nobody sees a slip of the finger. */
async function asked(question: string): Promise<string> {
  const first = await typed(`${question}: `);
  if ((await typed("The same again: ")) === first) return first;
  throw new CommandFailed("the two were not the same; nothing is changed");
}

function typed(question: string): Promise<string> {
  // Whatever the line editor would echo goes nowhere.
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
      reject(new CommandFailed("nothing was typed; nothing is changed"));
    });
  });
}

/** A command that could not do what it was asked; the message is the one line its user sees. Exit status 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** The command line itself is wrong. Exit status 2. */
export class CommandWrong extends Error {
  override readonly name = "CommandWrong";
}

/** A command that failed, and whose reason has been told already. */
export class CommandTold extends Error {
  override readonly name = "CommandTold";
  readonly status: number;

  constructor(status: number) {
    super(`ended with status ${status}`);
    this.status = status;
  }
}
