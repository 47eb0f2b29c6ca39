import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { addressBefore } from "../commands/login.ts";
import { checkedUrl } from "../login/gateway-oauth.ts";
import { loginPath } from "../login/login-file.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import type { Connection } from "./connection.ts";
import { connectionFor } from "./connections.ts";
import { changedLines } from "./line-diff.ts";
import { keepBackup, type LocalFile, openLocalFile, removeBackup, writeLocalFile } from "./local-file.ts";

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
