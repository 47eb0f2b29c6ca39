import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { addressBefore } from "../commands/login.ts";
import { checkedUrl } from "../login/gateway-oauth.ts";
import { loginPath } from "../login/login-file.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import type { Connection } from "./connection.ts";
import { connectionFor } from "./connections.ts";

export interface ConnectOptions {
  readonly login?: boolean;
  readonly file?: string;
  readonly yes?: boolean;
  readonly undo?: boolean;
}

interface ConnectAsked extends ConnectOptions {
  readonly address: string | undefined;
  readonly name: "claude" | "codex";
}

/** `sluice connect`, once it is known what is asked. */
export async function runConnect(asked: ConnectAsked, terminal: Terminal, command: Command): Promise<void> {
  const connection = connectionFor({
    program: asked.name,
    login: asked.login === true,
    file: asked.file,
    variables: terminal.variables,
  });
  const file = openLocalFile(connection.path);
  if (asked.undo === true) await undo(connection, file, asked, terminal, command);
  else await connect(connection, file, asked, terminal, command);
}

async function connect(
  connection: Connection,
  file: LocalFile,
  asked: ConnectAsked,
  terminal: Terminal,
  command: Command,
): Promise<void> {
  const { path } = file;
  const loginFile = loginPath(terminal.variables);
  const base = checkedUrl(
    asked.address ?? terminal.variables["SLUICE_LOGIN_URL"] ?? addressBefore(loginFile, "connect"),
  );
  const before = file.text ?? "";
  const after = connection.connected(before, base);
  const next = asked.login === true ? "Start claude and use /login." : `Sign in, if you have not: sluice login ${base}`;
  const lines = [...connection.remarks(after).map((line) => `Note: ${line}.`), next];
  if (after === before) {
    const said = `${connection.title} is connected to ${base} already; ${path} stays as it is.`;
    await report(terminal, command, { file: path, url: base, changed: false, backup: null }, [said, ...lines]);
    return;
  }
  await agreed(`${connection.title}: ${path}`, changedLines(before, after), asked, terminal);
  // What stood there before the first time is what --undo brings back.
  const backup = connection.isConnected(before) && file.backup !== null ? file.backupPath : keepBackup(file);
  writeLocalFile(file, after);
  const said = [
    `${connection.title} is connected to ${base}.`,
    ...(backup === null ? [] : [`What stood in the file before: ${backup}`]),
  ];
  await report(terminal, command, { file: path, url: base, changed: true, backup }, [...said, ...lines]);
}

async function undo(
  connection: Connection,
  file: LocalFile,
  asked: ConnectOptions,
  terminal: Terminal,
  command: Command,
): Promise<void> {
  const { path, text } = file;
  if (text === null || !connection.isConnected(text)) {
    const said = `Nothing of Sluice's is in ${path}.`;
    await report(terminal, command, { file: path, changed: false }, [said]);
    return;
  }
  const after = connection.disconnected(text, file.backup);
  await agreed(`${connection.title}: ${path}`, changedLines(text, after ?? ""), asked, terminal);
  writeLocalFile(file, after);
  removeBackup(file);
  await report(terminal, command, { file: path, changed: true }, [
    after === null ? `${path} held nothing else, and is gone.` : `${connection.title} is no longer connected.`,
  ]);
}

/** Throws CommandFailed unless whoever is asked says yes. */
async function agreed(
  title: string,
  changes: readonly string[],
  { yes }: ConnectOptions,
  terminal: Terminal,
): Promise<void> {
  terminal.complain([title, ...changes].join("\n"));
  if (yes === true) return;
  const answer = await terminal.confirm("Write this? [y/N] ");
  if (answer === null) throw new CommandFailed("there is no terminal to ask at; say --yes. Nothing is changed");
  if (!answer) throw new CommandFailed("nothing is changed");
}

/**
 * The lines that go and the lines that come, each with its number; what stays is left out, since it may hold secrets. A line that only got
 * the comma of JSON behind it stays.
 */
function changedLines(before: string, after: string): readonly string[] {
  const [oldShown, freshShown] = [linesOf(before), linesOf(after)];
  const [old, fresh] = [oldShown, freshShown].map((lines) => lines.map((line) => line.replace(/,$/, ""))) as [
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd--;
    freshEnd--;
  }
  const kept = keptPairs(old.slice(start, oldEnd), fresh.slice(start, freshEnd));
  const said: string[] = [];
  let [one, other] = [start, start];
  for (const [keptOld, keptFresh] of [...kept, [oldEnd - start, freshEnd - start] as const]) {
    for (; one < start + keptOld; one++) said.push(`- ${one + 1}: ${oldShown[one]}`);
    for (; other < start + keptFresh; other++) said.push(`+ ${other + 1}: ${freshShown[other]}`);
    one++;
    other++;
  }
  return said;
}

/** Lines that stand in both, in their order, as many as there can be; none where that would cost too much to find. */
function keptPairs(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  if (old.length * fresh.length > cellsMax) return [];
  const width = fresh.length + 1;
  const most = new Uint32Array((old.length + 1) * width);
  const at = (one: number, other: number) => most[one * width + other] ?? 0;
  for (let one = old.length - 1; one >= 0; one--) {
    for (let other = fresh.length - 1; other >= 0; other--) {
      most[one * width + other] =
        old[one] === fresh[other] ? at(one + 1, other + 1) + 1 : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let one = 0, other = 0; one < old.length && other < fresh.length; ) {
    if (old[one] === fresh[other]) pairs.push([one++, other++]);
    else if (at(one + 1, other) >= at(one, other + 1)) one++;
    else other++;
  }
  return pairs;
}

const cellsMax = 4_000_000;

function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** A program's own file: what stands in it, and what stood in it before Sluice. */
interface LocalFile {
  /** Where it is; behind a link what the link leads to, so that the link stays. */
  readonly path: string;
  /** null: there is none yet. */
  readonly text: string | null;
  readonly backupPath: string;
  /** null: none was made. */
  readonly backup: string | null;
}

const bytesMax = 1024 * 1024;

/** Throws CommandFailed where it cannot be read, or could not be written. */
function openLocalFile(named: string): LocalFile {
  const path = target(named);
  const backupPath = `${path}.before-sluice`;
  const text = existsSync(path) ? readText(path) : null;
  if (text !== null && (statSync(path).mode & 0o222) === 0) {
    throw new CommandFailed(`${path} is read-only; nothing is changed`);
  }
  return { path, text, backupPath, backup: existsSync(backupPath) ? readText(backupPath) : null };
}

/** As a whole or not at all. `text` null: there is no such file any more. */
function writeLocalFile({ path, text: before }: LocalFile, text: string | null): void {
  if (text === null) {
    attempt(path, () => rmSync(path, { force: true }));
    return;
  }
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  attempt(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(made, text, { mode: 0o600, flag: "wx" });
      if (before !== null) chmodSync(made, statSync(path).mode & 0o777);
      renameSync(made, path);
    } finally {
      rmSync(made, { force: true });
    }
  });
}

/** Keeps what stood there before; one that was kept already and is another's stays under another name. */
function keepBackup({ path, text, backup, backupPath }: LocalFile): string | null {
  if (text === null || text === backup) return backup === null ? null : backupPath;
  attempt(backupPath, () => {
    if (backup !== null) renameSync(backupPath, `${backupPath}.${Date.now()}`);
    writeFileSync(backupPath, text, { mode: statSync(path).mode & 0o777, flag: "wx" });
  });
  return backupPath;
}

function removeBackup({ backupPath }: LocalFile): void {
  attempt(backupPath, () => rmSync(backupPath, { force: true }));
}

function target(named: string): string {
  try {
    return realpathSync(named);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" && lstatSync(named, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw new CommandFailed(`${named} is a link that leads to no file; nothing is changed`);
    }
    if (code === "ENOENT") return named;
    throw new CommandFailed(`${named} cannot be read: ${code}`);
  }
}

function readText(path: string): string {
  try {
    if (statSync(path).size > bytesMax) throw new CommandFailed(`${path} is larger than 1 MiB; nothing is changed`);
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof CommandFailed) throw thrown;
    throw new CommandFailed(`${path} cannot be read: ${(thrown as NodeJS.ErrnoException).code}`);
  }
}

function attempt(path: string, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    throw new CommandFailed(`${path} cannot be written: ${(thrown as NodeJS.ErrnoException).code}`);
  }
}
