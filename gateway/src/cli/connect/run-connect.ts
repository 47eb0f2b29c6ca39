import {
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { claudeHelperSettings, claudeLoginSettings } from "@sluice/contract/words";
import type { Variables } from "#config/index.ts";
import type { Answer } from "../cli-command.ts";
import { addressBefore, loginPath, writeWhole } from "../login/login-file.ts";
import { checkedUrl } from "../login/sign-in.ts";
import { CommandFailed, type Terminal } from "../terminal.ts";
import { codexConnection } from "./codex-connection.ts";
import type { Connection } from "./connection.ts";
import { jsonConnection } from "./json-connection.ts";

export interface ConnectOptions {
  readonly login?: boolean;
  readonly file?: string;
  readonly yes?: true;
  readonly undo?: boolean;
}

interface ConnectAsked extends ConnectOptions {
  readonly address: string | undefined;
  readonly name: "claude" | "codex";
}

/** `sluice connect`, once it is known what is asked. */
export async function runConnect(asked: ConnectAsked, terminal: Terminal): Promise<Answer> {
  const connection = connectionFor(asked, terminal.variables);
  const file = openLocalFile(connection.path);
  return asked.undo === true
    ? await undo(connection, file, asked, terminal)
    : await connect(connection, file, asked, terminal);
}

async function connect(
  connection: Connection,
  file: LocalFile,
  { address, login, yes }: ConnectAsked,
  terminal: Terminal,
): Promise<Answer> {
  const { path } = file;
  const { variables } = terminal;
  const url = checkedUrl(address ?? variables["SLUICE_LOGIN_URL"] ?? addressBefore(loginPath(variables), "connect"));
  const before = file.text ?? "";
  const after = connection.connected(before, url);
  const next = login === true ? "Start claude and use /login." : `Sign in, if you have not: sluice login ${url}`;
  const lines = [...connection.remarks(after).map((line) => `Note: ${line}.`), next];
  if (after === before) {
    const line = `${connection.title} is connected to ${url} already; ${path} stays as it is.`;
    return [{ file: path, url, changed: false, backup: null }, [line, ...lines]];
  }
  await agreed(`${connection.title}: ${path}`, changedLines(before, after), yes, terminal);
  // What stood there before the first time is what --undo brings back.
  const backup = connection.isConnected(before) && file.backup !== null ? file.backupPath : keepBackup(file);
  writeLocalFile(file, after);
  const kept = backup === null ? [] : [`What stood in the file before: ${backup}`];
  const data = { file: path, url, changed: true, backup };
  return [data, [`${connection.title} is connected to ${url}.`, ...kept, ...lines]];
}

async function undo(
  connection: Connection,
  file: LocalFile,
  { yes }: ConnectOptions,
  terminal: Terminal,
): Promise<Answer> {
  const { path, text, backupPath } = file;
  if (text === null || !connection.isConnected(text)) {
    return [{ file: path, changed: false }, [`Nothing of Sluice's is in ${path}.`]];
  }
  const after = connection.disconnected(text, file.backup);
  await agreed(`${connection.title}: ${path}`, changedLines(text, after ?? ""), yes, terminal);
  writeLocalFile(file, after);
  attempt(backupPath, () => rmSync(backupPath, { force: true }));
  const gone = `${path} held nothing else, and is gone.`;
  return [{ file: path, changed: true }, [after === null ? gone : `${connection.title} is no longer connected.`]];
}

/** Throws CommandFailed unless whoever is asked says yes. */
async function agreed(
  title: string,
  changes: readonly string[],
  yes: true | undefined,
  { complain, confirm }: Terminal,
) {
  complain([title, ...changes].join("\n"));
  if (yes === true) return;
  const answer = await confirm("Write this? [y/N] ");
  if (answer === null) throw new CommandFailed("there is no terminal to ask at; say --yes. Nothing is changed");
  if (!answer) throw new CommandFailed("nothing is changed");
}

/**
 * The lines that go and the lines that come, each with its number; what stays is left out, since it may hold secrets. A line that only got
 * the comma of JSON behind it stays.
 */
function changedLines(before: string, after: string): readonly string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const same = (one = "", other = "") => bare(one) === bare(other);
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && same(old[start], fresh[start])) start++;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (Math.min(oldEnd, freshEnd) > start && same(old[oldEnd - 1], fresh[freshEnd - 1])) {
    oldEnd--;
    freshEnd--;
  }
  const kept = keptPairs(old.slice(start, oldEnd).map(bare), fresh.slice(start, freshEnd).map(bare));
  const changes: string[] = [];
  let [one, other] = [start, start];
  for (const [keptOld, keptFresh] of [...kept, [oldEnd - start, freshEnd - start] as const]) {
    for (; one < start + keptOld; one++) changes.push(`- ${one + 1}: ${old[one]}`);
    for (; other < start + keptFresh; other++) changes.push(`+ ${other + 1}: ${fresh[other]}`);
    one++;
    other++;
  }
  return changes;
}

const bare = (line = "") => line.replace(/,$/, "");

/** Lines of both texts in their order, as many as possible, so that a line that moved is shown. None if that costs too much to find. */
function keptPairs(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  if (old.length * fresh.length > changedCellsMax) return [];
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

const changedCellsMax = 4_000_000;

function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

type LocalFile = ReturnType<typeof openLocalFile>;

const bytesMax = 1024 * 1024;

/**
 * A program's own file: what stands in it, and what stood in it before Sluice (null: there is none). Its path is behind a link what the
 * link leads to, so that the link stays. Throws CommandFailed where it cannot be read, or could not be written.
 */
function openLocalFile(named: string) {
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
  attempt(path, () => {
    if (text === null) rmSync(path, { force: true });
    else writeWhole(path, text, before === null ? 0o600 : statSync(path).mode & 0o777);
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

/** `login`: Claude Code signs in by itself, as the machine's own settings tell it. */
function connectionFor({ name, login, file }: ConnectAsked, variables: Variables): Connection {
  const home = variables["HOME"] || homedir();
  if (name === "codex")
    return codexConnection(file ?? join(variables["CODEX_HOME"] || join(home, ".codex"), "config.toml"));
  if (login === true) {
    return jsonConnection({
      title: "Claude Code on this machine",
      path: file ?? machineSettings[platform()] ?? "/etc/claude-code/managed-settings.json",
      members: (base) => membersOf(claudeLoginSettings(base)),
    });
  }
  const folder = variables["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  return jsonConnection({
    title: "Claude Code",
    path: file ?? join(folder, "settings.json"),
    members: (base) => membersOf(claudeHelperSettings(base)),
    stronger: {
      "env.ANTHROPIC_AUTH_TOKEN": "it goes before the helper; take it out",
      "env.ANTHROPIC_API_KEY": "it goes before the helper; take it out",
    },
  });
}

type Settings = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Each by its place, in the order in which they stand. */
function membersOf(settings: Settings): readonly (readonly [path: readonly string[], value: string])[] {
  return Object.entries(settings).flatMap(([name, value]): (readonly [readonly string[], string])[] =>
    typeof value === "string" ? [[[name], value]] : Object.entries(value).map(([inner, text]) => [[name, inner], text]),
  );
}

/** Where Claude Code looks for what its machine's administrator sets. */
const machineSettings: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  win32: "C:\\ProgramData\\ClaudeCode\\managed-settings.json",
};
