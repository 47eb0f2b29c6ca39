import type { ConsoleUser, LeaverKeys } from "@sluice/contract";
import { Failure } from "#core/index.ts";
import type { PeopleStore } from "#ports/index.ts";
import { CommandFailed, CommandWrong } from "./command-failed.ts";

/** How an option says what becomes of somebody's keys. */
export const keysOption = "--keys <what>";
export const keysHelp = "what becomes of their API keys: revoke, disable, or hand-over:<e-mail>";

export async function userNamed(people: PeopleStore, email: string): Promise<ConsoleUser> {
  const found = await people.userByEmail(email);
  if (found === null) throw new CommandFailed(`there is no user ${JSON.stringify(email)}; see \`sluice user list\``);
  return found;
}

/** null: the option was not given. */
export async function keysSaid(people: PeopleStore, text: string | undefined): Promise<LeaverKeys | null> {
  if (text === undefined) return null;
  if (text === "revoke" || text === "disable") return text;
  const email = /^hand-over:(.+)$/.exec(text)?.[1];
  if (email === undefined) throw new CommandWrong(`--keys is revoke, disable or hand-over:<e-mail>, not ${text}`);
  return { hand_over_to: (await userNamed(people, email)).id };
}

/** The store speaks of the field of the admin API; somebody at a terminal has an option. */
export async function withKeysAsked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "missing_required_parameter") throw thrown;
    const [who] = thrown.message.split(" Say what");
    throw new CommandFailed(`${who} Say what becomes of them: --keys revoke, disable or hand-over:<e-mail>`);
  }
}
