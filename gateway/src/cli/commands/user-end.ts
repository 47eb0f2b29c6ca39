import type { ConsoleUser } from "@sluice/contract";
import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { keysHelp, keysOption, keysSaid, userNamed, withKeysAsked } from "../user-keys.ts";

export function addUserDisable(user: Command, terminal: Terminal): void {
  user
    .command("disable")
    .description("stop a user: no sign-in, no session, no admin token, from now on")
    .argument("<email>", "the user")
    .option(keysOption, keysHelp)
    .action(async (email: string, options: { readonly keys?: string }, command: Command) => {
      const after = await withControl(terminal.variables, async ({ people }) => {
        const { id } = await userNamed(people, email);
        const keys = (await keysSaid(people, options.keys)) ?? undefined;
        return await withKeysAsked(() => people.updateUser(id, { disabled: true, keys }, auditSource));
      });
      await report(terminal, command, shown(after), [
        `${after.email} is disabled: signed out, and can no longer sign in`,
      ]);
    });
}

export function addUserEnable(user: Command, terminal: Terminal): void {
  user
    .command("enable")
    .description("let a disabled user sign in again; keys that were disabled stay so")
    .argument("<email>", "the user")
    .action(async (email: string, _options: unknown, command: Command) => {
      const after = await withControl(terminal.variables, async ({ people }) =>
        people.updateUser((await userNamed(people, email)).id, { disabled: false }, auditSource),
      );
      await report(terminal, command, shown(after), [`${after.email} may sign in`]);
    });
}

export function addUserRemove(user: Command, terminal: Terminal): void {
  user
    .command("remove")
    .description("remove a user with all they sign in with, or from one workspace only")
    .argument("<email>", "the user")
    .option("--workspace <slug>", "only from this workspace")
    .option(keysOption, keysHelp)
    .action(
      async (email: string, options: { readonly workspace?: string; readonly keys?: string }, command: Command) => {
        const removed = await withControl(terminal.variables, async ({ people }) => {
          const found = await userNamed(people, email);
          const keys = await keysSaid(people, options.keys);
          const { workspace } = options;
          if (workspace === undefined) {
            await withKeysAsked(() => people.removeUser(found.id, keys, auditSource));
          } else {
            const place = placeOf(found, workspace);
            await withKeysAsked(() => people.removeMember(place, found.id, { keys }, auditSource));
          }
          return found;
        });
        const from = options.workspace === undefined ? "removed" : `no longer a member of ${options.workspace}`;
        const answer = { id: removed.id, email: removed.email, workspace: options.workspace ?? null, removed: true };
        await report(terminal, command, answer, [`${removed.email} is ${from}`]);
      },
    );
}

function placeOf({ email, workspaces }: ConsoleUser, slug: string): string {
  const place = workspaces.find((each) => each.slug === slug);
  if (place !== undefined) return place.id;
  throw new CommandFailed(`${email} is no member of ${JSON.stringify(slug)}`);
}

function shown({ id, email, administrator, disabled }: ConsoleUser) {
  return { id, email, administrator, disabled };
}
