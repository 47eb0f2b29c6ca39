import type { ConsoleUser } from "@sluice/contract";
import type { Command } from "commander";
import type { PeopleStore } from "#ports/index.ts";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addUserList(user: Command, terminal: Terminal): void {
  user
    .command("list")
    .description("list who may open the console, with what they hold")
    .action(async (_options: unknown, command: Command) => {
      const users = await withControl(terminal.variables, ({ people }) => everybody(people));
      const rows = users.map((each) => [each.email, each.id, holds(each), each.disabled ? "disabled" : ""]);
      const lines = users.length === 0 ? ["no users yet"] : columns([["E-MAIL", "ID", "HOLDS", ""], ...rows]);
      await report(terminal, command, { users }, lines);
    });
}

async function everybody(people: PeopleStore): Promise<readonly ConsoleUser[]> {
  const users: ConsoleUser[] = [];
  let cursor: string | null = null;
  do {
    const page = await people.listUsers(null, cursor, 200);
    users.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return users;
}

function holds({ administrator, workspaces }: ConsoleUser): string {
  const roles = workspaces.map(({ slug, role }) => `${role} of ${slug}`);
  return [...(administrator ? ["administrator"] : []), ...roles].join(", ") || "nothing";
}
