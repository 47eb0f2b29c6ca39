import { Option } from "commander";
import type { Variables } from "#config/index.ts";
import { type CliCommand, timeText } from "../cli-command.ts";
import type { ConnectOptions } from "../connect/run-connect.ts";
import { addressBefore, loginPath, readLogin, removeLogin } from "../login/login-file.ts";
import { checkedUrl, endSignIn, freshToken, signIn } from "../login/sign-in.ts";
import { CommandWrong, type Terminal } from "../terminal.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function addLogin(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("login")
    .description("sign in to a gateway as yourself, so that `sluice token` gives agents a token")
    .argument(
      "[address]",
      "of the gateway, such as https://gateway.example.com (default: SLUICE_LOGIN_URL, or as before)",
    )
    .answer(async (address: string | undefined) => {
      const path = loginPath(terminal.variables);
      const base = checkedUrl(address ?? terminal.variables["SLUICE_LOGIN_URL"] ?? addressBefore(path, "login"));
      const believed = await believedAuthorities(terminal.variables);
      const tell = (line: string): void => terminal.complain(line);
      const { url, expiresAt } = await signIn({ base, path, tell, pause, believed });
      const view = { url, file: path, expires_at: timeText(expiresAt) };
      return [view, [`Signed in at ${url}. \`sluice token\` prints a token for agents.`]];
    });
  program
    .command("logout")
    .description("end the sign-in of `sluice login`, at the gateway and here")
    .answer(async () => {
      const path = loginPath(terminal.variables);
      const login = readLogin(path);
      let ended = false;
      try {
        ended = await endSignIn(login, await believedAuthorities(terminal.variables));
      } finally {
        // What cannot be ended there is at least not used from here.
        removeLogin(path);
      }
      const { url } = login;
      const line = ended ? `Signed out of ${url}.` : `Forgotten here; end the sign-in in the console of ${url}.`;
      return [{ url, ended }, [line]];
    });
}

export function addConnect(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("connect")
    .description("point Claude Code or Codex on this machine at the gateway; shows what it changes, and asks")
    .argument("<program>", "claude or codex")
    .argument("[address]", "of the gateway (default: SLUICE_LOGIN_URL, or where `sluice login` signed in)")
    .addOption(new Option("--login", "Claude Code signs in by itself with /login, for everybody on this machine"))
    .option("--file <path>", "another settings file than the program's usual one")
    .option("--yes", "do not ask")
    .option("--undo", "take out again what is Sluice's, and bring back what it took the place of")
    .answer(async (name: string, address: string | undefined, options: ConnectOptions) => {
      if (name !== "claude" && name !== "codex") throw new CommandWrong("name a program: claude or codex");
      if (options.login === true && name === "codex")
        throw new CommandWrong("--login is for claude; Codex has no /login");
      const { runConnect } = await import("../connect/run-connect.ts");
      return await runConnect({ ...options, name, address }, terminal);
    });
}

/** For `auth.command` of Codex and `apiKeyHelper` of Claude Code: the token alone, on standard output. */
export async function printToken(terminal: Terminal): Promise<void> {
  const believed = await believedAuthorities(terminal.variables);
  await terminal.write(`${await freshToken(loginPath(terminal.variables), { pause, believed })}\n`);
}

/** The certificate authorities that a gateway's certificate may be from, with those of SLUICE_CA; undefined: the runtime's alone. */
async function believedAuthorities(variables: Variables): Promise<readonly string[] | undefined> {
  // Agents ask for a token each time they start: nothing more is loaded for those who name none.
  if ((variables["SLUICE_CA"] ?? "") === "" && (variables["SLUICE_CA_FILE"] ?? "") === "") return undefined;
  const [{ environmentOf }, { trustedWith }] = await Promise.all([
    import("../open.ts"),
    import("#upstream/index.ts"),
  ]);
  const { authorities } = await environmentOf(variables);
  return authorities.length === 0 ? undefined : trustedWith(authorities);
}
