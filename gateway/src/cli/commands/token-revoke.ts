import type { AdminToken } from "@sluice/contract";
import type { Command } from "commander";
import type { PeopleStore } from "#ports/index.ts";
import { CommandFailed } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { everyToken } from "./token-list.ts";

export function addTokenRevoke(token: Command, terminal: Terminal): void {
  token
    .command("revoke")
    .description("make an admin token useless, with those that it made; there is no way back")
    .argument("<token>", "its id (adt_…), the beginning of its secret, or its name if no other has it")
    .action(async (text: string, _options: unknown, command: Command) => {
      const gone = await withControl(terminal.variables, async ({ people }) => {
        const found = await tokenNamed(people, text);
        await people.revokeToken(found.id, auditSource);
        return found;
      });
      const data = { id: gone.id, name: gone.name, owner: gone.owner.email, revoked: true };
      await report(terminal, command, data, [`revoked admin token ${gone.name} of ${gone.owner.email} (${gone.id})`]);
    });
}

async function tokenNamed(people: PeopleStore, text: string): Promise<AdminToken> {
  const byId = await people.token(text);
  if (byId !== null) return byId;
  const found = (await everyToken(people, null)).filter(({ name, prefix }) => name === text || prefix === text);
  const [only] = found;
  if (only === undefined) {
    throw new CommandFailed(`there is no admin token ${JSON.stringify(text)}; see \`sluice token list\``);
  }
  if (found.length === 1) return only;
  throw new CommandFailed(`${found.length} admin tokens are called ${JSON.stringify(text)}; name one by its id`);
}
