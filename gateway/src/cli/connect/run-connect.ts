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
import { lastAddress, loginPath, writeWhole } from "../login/login-file.ts";
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
  const url = checkedUrl(address ?? variables["SLUICE_LOGIN_URL"] ?? lastAddress(loginPath(variables), "connect"));
  const before = file.text ?? "";
  const after = connection.connected(before, url);
  const next = login === true ? "Start claude and use /login." : `Sign in, if you have not: sluice login ${url}`;
  const lines = [...connection.notes(after).map((line) => `Note: ${line}.`), next];
  if (after === before) {
    const line = `${connection.title} is already connected to ${url}; ${path} was not changed.`;
    return [{ file: path, url, changed: false, backup: null }, [line, ...lines]];
  }
  await requireConfirmation(`${connection.title}: ${path}`, changedLines(before, after), yes, terminal);
  // --undo restores the file from before the first connect.
  const backup = connection.isConnected(before) && file.backup !== null ? file.backupPath : keepBackup(file);
  writeLocalFile(file, after);
  const kept = backup === null ? [] : [`Backup of the previous file: ${backup}`];
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
    return [{ file: path, changed: false }, [`${path} has no settings of Sluice.`]];
  }
  const after = connection.disconnected(text, file.backup);
  await requireConfirmation(`${connection.title}: ${path}`, changedLines(text, after ?? ""), yes, terminal);
  writeLocalFile(file, after);
  attempt(backupPath, () => rmSync(backupPath, { force: true }));
  const gone = `${path} had no other settings and was deleted.`;
  return [{ file: path, changed: true }, [after === null ? gone : `${connection.title} is no longer connected.`]];
}

/** Throws CommandFailed unless the user confirms. */
async function requireConfirmation(
  title: string,
  changes: readonly string[],
  yes: true | undefined,
  { printError, confirm }: Terminal,
) {
  printError([title, ...changes].join("\n"));
  if (yes === true) return;
  const answer = await confirm("Write this? [y/N] ");
  if (answer === null) throw new CommandFailed("no terminal to confirm at; use --yes. Nothing was changed");
  if (!answer) throw new CommandFailed("nothing was changed");
}

/**
 * The removed and added lines with their numbers. Other lines are not shown, because they may hold secrets. A change of only a trailing
 * comma is ignored.
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
  const kept = commonLines(old.slice(start, oldEnd).map(bare), fresh.slice(start, freshEnd).map(bare));
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

/** The longest common subsequence of lines, so that a moved line is shown. Empty if it would be too expensive. */
function commonLines(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
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
 * A settings file: its text and its backup from before Sluice (null if there is none). Follows links, so that they stay. Throws
 * CommandFailed if it cannot be read or written.
 */
function openLocalFile(named: string) {
  const path = target(named);
  const backupPath = `${path}.before-sluice`;
  const text = existsSync(path) ? readText(path) : null;
  if (text !== null && (statSync(path).mode & 0o222) === 0) {
    throw new CommandFailed(`${path} is read-only; nothing was changed`);
  }
  return { path, text, backupPath, backup: existsSync(backupPath) ? readText(backupPath) : null };
}

/** Writes atomically. `text` null removes the file. */
function writeLocalFile({ path, text: before }: LocalFile, text: string | null): void {
  attempt(path, () => {
    if (text === null) rmSync(path, { force: true });
    else writeWhole(path, text, before === null ? 0o600 : statSync(path).mode & 0o777);
  });
}

/** Creates the backup. An older one with another content is renamed. */
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
      throw new CommandFailed(`${named} is a broken link; nothing was changed`);
    }
    if (code === "ENOENT") return named;
    throw new CommandFailed(`${named} cannot be read: ${code}`);
  }
}

function readText(path: string): string {
  try {
    if (statSync(path).size > bytesMax) throw new CommandFailed(`${path} is larger than 1 MiB; nothing was changed`);
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

/** `login`: Claude Code signs in itself, configured in the settings of the machine. */
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
    overriding: {
      "env.ANTHROPIC_AUTH_TOKEN": "it overrides the helper; remove it",
      "env.ANTHROPIC_API_KEY": "it overrides the helper; remove it",
    },
  });
}

type Settings = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Each value with its path, in order. */
function membersOf(settings: Settings): readonly (readonly [path: readonly string[], value: string])[] {
  return Object.entries(settings).flatMap(([name, value]): (readonly [readonly string[], string])[] =>
    typeof value === "string" ? [[[name], value]] : Object.entries(value).map(([inner, text]) => [[name, inner], text]),
  );
}

/** The settings of Claude Code that a machine's administrator controls. */
const machineSettings: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  win32: "C:\\ProgramData\\ClaudeCode\\managed-settings.json",
};
