import { homedir, platform } from "node:os";
import { join } from "node:path";
import { claudeHelperSettings, claudeLoginSettings } from "@sluice/contract/words";
import type { Variables } from "#config/index.ts";
import { codexConnection } from "./codex-connection.ts";
import type { Connection } from "./connection.ts";
import { jsonConnection } from "./json-connection.ts";

interface Asked {
  readonly program: "claude" | "codex";
  /** Claude Code only: it signs in by itself, as the machine's own settings tell it. */
  readonly login: boolean;
  /** Another file than the usual one. */
  readonly file: string | undefined;
  readonly variables: Variables;
}

export function connectionFor({ program, login, file, variables }: Asked): Connection {
  const home = variables["HOME"] || homedir();
  if (program === "codex")
    return codexConnection(file ?? join(variables["CODEX_HOME"] || join(home, ".codex"), "config.toml"));
  if (login) {
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
