import { type Command, Option } from "commander";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
import type { Connection } from "../connect/connection.ts";
import { connectionFor } from "../connect/connections.ts";
import { changedLines } from "../connect/line-diff.ts";
import { keepBackup, type LocalFile, openLocalFile, removeBackup, writeLocalFile } from "../connect/local-file.ts";
import { checkedUrl } from "../login/gateway-oauth.ts";
import { loginPath } from "../login/login-file.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { addressBefore } from "./login.ts";

interface ConnectOptions {
  readonly login?: boolean;
  readonly file?: string;
  readonly yes?: boolean;
  readonly undo?: boolean;
}

export function addConnect(program: Command, terminal: Terminal): void {
  program
    .command("connect")
    .description("point Claude Code or Codex on this machine at the gateway; shows what it changes, and asks")
    .argument("<program>", "claude or codex")
    .argument("[address]", "of the gateway (default: SLUICE_LOGIN_URL, or where `sluice login` signed in)")
    .addOption(new Option("--login", "Claude Code signs in by itself with /login, for everybody on this machine"))
    .option("--file <path>", "another settings file than the program's usual one")
    .option("--yes", "do not ask")
    .option("--undo", "take out again what is Sluice's, and bring back what it took the place of")
    .action(async (name: string, address: string | undefined, options: ConnectOptions, command: Command) => {
      if (name !== "claude" && name !== "codex") throw new CommandWrong("name a program: claude or codex");
      if (options.login === true && name === "codex")
        throw new CommandWrong("--login is for claude; Codex has no /login");
      const connection = connectionFor({
        program: name,
        login: options.login === true,
        file: options.file,
        variables: terminal.variables,
      });
      const file = openLocalFile(connection.path);
      if (options.undo === true) await undo(connection, file, options, terminal, command);
      else await connect(connection, file, { address, ...options, name }, terminal, command);
    });
}

interface ConnectAsked extends ConnectOptions {
  readonly address: string | undefined;
  readonly name: "claude" | "codex";
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
