import { Option } from "commander";
import type { Variables } from "#config/index.ts";
import { type CliCommand, timeText } from "../cli-command.ts";
import type { ConnectOptions } from "../connect/run-connect.ts";
import { lastAddress, loginPath, readLogin, removeLogin } from "../login/login-file.ts";
import { checkedUrl, endSignIn, freshToken, signIn } from "../login/sign-in.ts";
import { type Terminal, UsageError } from "../terminal.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function addLogin(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("login")
    .description("sign in to a gateway, so that `sluice token` can print a token for agents")
    .argument(
      "[address]",
      "of the gateway, such as https://gateway.example.com (default: SLUICE_LOGIN_URL or the last one)",
    )
    .answer(async (address: string | undefined) => {
      const path = loginPath(terminal.variables);
      const base = checkedUrl(address ?? terminal.variables["SLUICE_LOGIN_URL"] ?? lastAddress(path, "login"));
      const authorities = await readAuthorities(terminal.variables);
      const print = (line: string): void => terminal.printError(line);
      const { url, expiresAt } = await signIn({ base, path, print, pause, authorities });
      const view = { url, file: path, expires_at: timeText(expiresAt) };
      return [view, [`Signed in at ${url}. \`sluice token\` prints a token for agents.`]];
    });
  program
    .command("logout")
    .description("sign out: revoke the tokens of `sluice login` and delete them here")
    .answer(async () => {
      const path = loginPath(terminal.variables);
      const login = readLogin(path);
      let ended = false;
      try {
        ended = await endSignIn(login, await readAuthorities(terminal.variables));
      } finally {
        // If the revocation fails, the tokens are at least removed here.
        removeLogin(path);
      }
      const { url } = login;
      const line = ended ? `Signed out of ${url}.` : `Deleted here; revoke the sign-in in the console of ${url}.`;
      return [{ url, ended }, [line]];
    });
}

export function addConnect(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("connect")
    .description("configure Claude Code or Codex to use the gateway; shows the changes and asks first")
    .argument("<program>", "claude or codex")
    .argument("[address]", "of the gateway (default: SLUICE_LOGIN_URL, or where `sluice login` signed in)")
    .addOption(new Option("--login", "let Claude Code sign in with /login, for all users of this machine"))
    .option("--file <path>", "settings file (default: the program's own)")
    .option("--yes", "do not ask")
    .option("--undo", "remove Sluice's settings and restore the previous ones")
    .answer(async (name: string, address: string | undefined, options: ConnectOptions) => {
      if (name !== "claude" && name !== "codex") throw new UsageError("the program must be claude or codex");
      if (options.login === true && name === "codex")
        throw new UsageError("--login is only for claude; Codex has no /login");
      const { runConnect } = await import("../connect/run-connect.ts");
      return await runConnect({ ...options, name, address }, terminal);
    });
}

/** For `auth.command` of Codex and `apiKeyHelper` of Claude Code: prints only the token. */
export async function printToken(terminal: Terminal): Promise<void> {
  const authorities = await readAuthorities(terminal.variables);
  await terminal.write(`${await freshToken(loginPath(terminal.variables), { pause, authorities })}\n`);
}

/** Includes the authorities of SLUICE_CA; undefined: the runtime's defaults. */
async function readAuthorities(variables: Variables): Promise<readonly string[] | undefined> {
  // Agents call this at each start, so nothing more is loaded without SLUICE_CA.
  if ((variables["SLUICE_CA"] ?? "") === "" && (variables["SLUICE_CA_FILE"] ?? "") === "") return undefined;
  const [{ environmentOf }, { trustedWith }] = await Promise.all([import("../open.ts"), import("#upstream/index.ts")]);
  const { authorities } = await environmentOf(variables);
  return authorities.length === 0 ? undefined : trustedWith(authorities);
}
