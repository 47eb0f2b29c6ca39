import type { Command } from "commander";
import type { Variables } from "#config/index.ts";
import { CommandWrong } from "../command-failed.ts";
import { checkedUrl } from "../login/gateway-oauth.ts";
import { loginPath, readLogin, removeLogin } from "../login/login-file.ts";
import { endSignIn, freshToken, signIn } from "../login/sign-in.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function addLogin(program: Command, terminal: Terminal): void {
  program
    .command("login")
    .description("sign in to a gateway as yourself, so that `sluice token` gives agents a token")
    .argument(
      "[address]",
      "of the gateway, such as https://gateway.example.com (default: SLUICE_LOGIN_URL, or as before)",
    )
    .action(async (address: string | undefined, _options: object, command: Command) => {
      const path = loginPath(terminal.variables);
      const base = checkedUrl(address ?? terminal.variables["SLUICE_LOGIN_URL"] ?? addressBefore(path, "login"));
      const believed = await believedAuthorities(terminal.variables);
      const tell = (line: string): void => terminal.complain(line);
      const { url, expiresAt } = await signIn({ base, path, tell, pause, believed });
      const view = { url, file: path, expires_at: new Date(expiresAt).toISOString() };
      await report(terminal, command, view, [`Signed in at ${url}. \`sluice token\` prints a token for agents.`]);
    });
}

export function addLogout(program: Command, terminal: Terminal): void {
  program
    .command("logout")
    .description("end the sign-in of `sluice login`, at the gateway and here")
    .action(async (_options: object, command: Command) => {
      const path = loginPath(terminal.variables);
      const login = readLogin(path);
      let ended = false;
      try {
        ended = await endSignIn(login, await believedAuthorities(terminal.variables));
      } finally {
        // What cannot be ended there is at least not used from here.
        removeLogin(path);
      }
      const said = ended
        ? `Signed out of ${login.url}.`
        : `Forgotten here; end the sign-in in the console of ${login.url}.`;
      await report(terminal, command, { url: login.url, ended }, [said]);
    });
}

/** For `auth.command` of Codex and `apiKeyHelper` of Claude Code: the token alone, on standard output. */
export async function printToken(terminal: Terminal): Promise<void> {
  const believed = await believedAuthorities(terminal.variables);
  await terminal.write(`${await freshToken(loginPath(terminal.variables), { pause, believed })}\n`);
}

/** Where somebody has signed in from here. Throws CommandWrong: nobody has. */
export function addressBefore(path: string, command: "login" | "connect"): string {
  try {
    return readLogin(path).url;
  } catch {
    const program = command === "connect" ? " claude" : "";
    throw new CommandWrong(`say which gateway: \`sluice ${command}${program} https://gateway.example.com\``);
  }
}

/** The certificate authorities that a gateway's certificate may be from, with those of SLUICE_CA; undefined: the runtime's alone. */
async function believedAuthorities(variables: Variables): Promise<readonly string[] | undefined> {
  // Agents ask for a token each time they start: nothing more is loaded for those who name none.
  if ((variables["SLUICE_CA"] ?? "") === "" && (variables["SLUICE_CA_FILE"] ?? "") === "") return undefined;
  const [{ environmentOf }, { believedBeside }] = await Promise.all([
    import("../open.ts"),
    import("#upstream/index.ts"),
  ]);
  const { authorities } = await environmentOf(variables);
  return authorities.length === 0 ? undefined : believedBeside(authorities);
}
