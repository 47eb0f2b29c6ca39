import type { AdminToken } from "@sluice/contract";
import type { Command } from "commander";
import type { PeopleStore } from "#ports/index.ts";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { userNamed } from "../user-keys.ts";

export function addTokenList(token: Command, terminal: Terminal): void {
  token
    .command("list")
    .description("list admin tokens, without their secrets")
    .option("--user <email>", "only those of this user")
    .action(async ({ user }: { readonly user?: string }, command: Command) => {
      const tokens = await withControl(terminal.variables, async ({ people }) =>
        everyToken(people, user === undefined ? null : (await userNamed(people, user)).id),
      );
      const rows = tokens.map((each) => [each.name, each.id, each.owner.email, scope(each), end(each), used(each)]);
      const heads = ["NAME", "ID", "OWNER", "FOR", "VALID UNTIL", "LAST USED"];
      const lines = tokens.length === 0 ? ["no admin tokens"] : columns([heads, ...rows]);
      await report(terminal, command, { tokens }, lines);
    });
}

/** Newest first. `ownerId` null: everybody's. */
export async function everyToken(people: PeopleStore, ownerId: string | null): Promise<readonly AdminToken[]> {
  const tokens: AdminToken[] = [];
  let cursor: string | null = null;
  do {
    const page = await people.listTokens(ownerId, cursor, 200);
    tokens.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return tokens;
}

function scope({ workspace, role }: AdminToken): string {
  return workspace === null ? "the installation" : `${role} of ${workspace.slug}`;
}

function end({ expires_at: at }: AdminToken): string {
  return at === null ? "-" : new Date(at).toISOString();
}

function used({ last_used_at: at }: AdminToken): string {
  return at === null ? "never" : new Date(at).toISOString();
}
