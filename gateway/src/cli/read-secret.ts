import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandFailed } from "./command-failed.ts";

const secretBytesMax = 64 * 1024;

/** From standard input: asked for on a terminal, and not shown there; else all of it without the last line end. */
export async function readSecret(question: string): Promise<string> {
  return process.stdin.isTTY === true ? await asked(question) : await piped();
}

/** null: standard input is no terminal. Whatever is not yes is no. */
export async function readYes(question: string): Promise<boolean | null> {
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
