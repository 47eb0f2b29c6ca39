import { type Command, Option } from "commander";
import { CommandWrong } from "../command-failed.ts";
import type { ConnectOptions } from "../connect/run-connect.ts";
import type { Terminal } from "../terminal.ts";

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
      const { runConnect } = await import("../connect/run-connect.ts");
      await runConnect({ ...options, name, address }, terminal, command);
    });
}
