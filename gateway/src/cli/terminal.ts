import type { Variables } from "#config/index.ts";
import { readSecret, readYes } from "./read-secret.ts";

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
