import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Group, Workspace } from "../../gateway/src/core/index.ts";
import { resolveChange } from "../../gateway/src/rehearsal/change/resolve-change.ts";
import { RehearsalRun } from "../../gateway/src/rehearsal/replay/rehearsal-run.ts";
import { type Database, openDatabase } from "../../gateway/src/storage/index.ts";
import { limitScope } from "../../gateway/src/storage/tables.ts";

/**
 * Time of a rehearsal over the entries of a database that `console-reports.ts --directory dir` filled: every workspace and group gets
 * rates and a budget.
 *
 *     bun bench/src/rehearsal.ts --directory dir [--days 30]
 */
const { values } = parseArgs({ options: { directory: { type: "string" }, days: { type: "string", default: "400" } } });
if (values.directory === undefined) throw new Error("--directory is missing");
const database = openDatabase({ path: join(values.directory, "sluice.db"), create: false });
const config = {
  ...(await placesOf(database)),
  models: new Map(),
  providers: new Map(),
  budgetPolicies: [],
  guardrails: [],
};
const limits = { rpm: 1_000, tpm: 10_000_000, concurrency: 100 };
const budget = { usd: 1_000, period: "day" } as const;
const groupsOf = (id: string) => [...config.groups.values()].filter(({ workspaceId }) => workspaceId === id);
const change = {
  workspaces: [...config.workspaces.values()].map(({ id, slug }) => ({
    ...{ slug, limits, budget },
    groups: groupsOf(id).map(({ name }) => ({ name, limits, budget: { ...budget, usd: 100 } })),
  })),
};
const resolved = await resolveChange(change, config, database);
const [{ from, to } = { from: 0, to: 0 }] = await database.kysely
  .selectFrom("ledger_entries")
  .select((eb) => [eb.fn.min<number>("at").as("from"), eb.fn.max<number>("at").as("to")])
  .execute();
Error.stackTraceLimit = 0;
const end = Math.min(to + 1, from + Number(values.days) * 86_400_000);
const run = new RehearsalRun(database, { from, to: end, now: Date.now(), ...resolved, config });
const startedMs = performance.now();
const cpu = process.cpuUsage();
let entries = 0;
for (let isOver = false; !isOver; ) ({ entries, isOver } = await run.step());
const { unknown, calls, refused, rules, difference_nano_usd } = await run.result();
const seconds = (performance.now() - startedMs) / 1_000;
const { user, system } = process.cpuUsage(cpu);
console.log({ entries, seconds, perSecond: Math.round(entries / seconds), cpuSeconds: (user + system) / 1e6 });
console.log({
  calls,
  refused,
  rules: rules.length,
  difference_nano_usd,
  unknown,
  rss: process.memoryUsage.rss() / 2 ** 20,
});
await database.close();

async function placesOf({ kysely }: Database) {
  const workspaces = await kysely.selectFrom("workspaces").selectAll().execute();
  const groups = await kysely.selectFrom("groups").selectAll().execute();
  const granted = { models: ["*"], passThrough: [], enabled: true };
  return {
    workspaces: new Map<string, Workspace>(
      workspaces.map(({ id, slug, name, ...row }) => [
        id,
        { id, slug, name, ...granted, scope: limitScope("workspace", id, slug, row) },
      ]),
    ),
    groups: new Map<string, Group>(
      groups.map(({ id, name, workspace_id: workspaceId, ...row }) => [
        id,
        { id, name, workspaceId, ...granted, scope: limitScope("group", id, name, row) },
      ]),
    ),
  };
}
