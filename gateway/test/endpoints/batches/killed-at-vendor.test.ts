import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "kysely";
import { openPostgres } from "#storage/index.ts";
import { type Gateway, startGateway } from "../../../../test/acceptance/start-gateway.ts";
import { patienceMs, until } from "../../../../test/until.ts";
import { seededRandom } from "../../described-bodies.ts";
import { emptyPostgres } from "../../postgres-fixture.ts";
import { onPostgres } from "../../postgres-server.ts";
import { chatRow, clientOf, createBatch, ended, linesOf } from "./batch-client.ts";
import { rowCost } from "./batch-gateway.ts";
import { BatchVendor } from "./batch-vendor.ts";
import { exportedEntries } from "./exported-entries.ts";

const secret = "sk-acme-alice-00000000000001";
const rowCount = 2_000;

/**
 * Where the process is killed: when the vendor has received the request and its answer is lost, or between two transactions that settle
 * rows.
 */
const points = {
  upload: /^POST \/v1\/files$/,
  create: /^POST \/v1\/batches$/,
  poll: /^GET \/v1\/batches\/\w+$/,
  output: /^GET \/v1\/files\/[\w-]+\/content$/,
} as const;
type Point = keyof typeof points | "settling";

const answered = (row: number) => row % 5 !== 0 && row % 7 !== 0;
const endOf = (row: number) => (row % 5 === 0 ? "failed" : row % 7 === 0 ? "left" : "answered");
const count = (wanted: string) =>
  Array.from({ length: rowCount }, (_, n) => endOf(n)).filter((end) => end === wanted).length;

describe("SQLite", () =>
  suite(
    [
      { seed: 1, kills: ["upload", "create", "poll"] },
      { seed: 2, kills: ["poll", "output", "settling"] },
      { seed: 3, kills: ["create", "settling", "settling"] },
    ],
    async () => null,
  ));
await onPostgres("PostgreSQL", () =>
  suite(
    [
      { seed: 4, kills: ["create", "settling"] },
      { seed: 5, kills: ["upload", "output"] },
    ],
    emptyPostgres,
  ),
);

function suite(
  cases: readonly { readonly seed: number; readonly kills: readonly [Point, ...Point[]] }[],
  open: () => Promise<(AsyncDisposable & { readonly url: string }) | null>,
): void {
  test.each(cases)(
    "a process that is killed ($kills) settles each row of a vendor's batch once",
    async ({ seed, kills }) => {
      const random = seededRandom(seed);
      const vendor = new BatchVendor();
      vendor.endOf = endOf;
      const database = await open();
      let gateway: Gateway | null = null;
      try {
        gateway = await startGateway({
          config: {
            providers: [
              {
                ...{ id: "main", kind: "openai", base_url: vendor.url, api_key: "sk-up", allow_private_network: true },
                settings: { batches: true },
              },
            ],
            models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
            workspaces: [{ slug: "acme", keys: [{ name: "alice", secret, budget: { usd: 1, period: "total" } }] }],
          },
          env: database === null ? {} : { SLUICE_DATABASE_URL: database.url },
        });
        const client = clientOf(gateway, secret);
        const settledLines = settledLinesOf(gateway, database);
        /** Until then the process lives: the caller has the batch's id. */
        const created = Promise.withResolvers<void>();
        /** Resolves when the process has been killed there. */
        const killAt = async (point: Point): Promise<void> => {
          if (point === "output" || point === "settling") {
            await until(() => vendor.batches.length > 0);
            vendor.end("expired");
          }
          if (point === "settling") {
            const at = (await settledLines()) + 1 + random() * 500;
            await until(async () => (await settledLines()) >= Math.min(at, rowCount));
            await gateway?.kill9();
            return;
          }
          const killed = Promise.withResolvers<void>();
          vendor.beforeAnswer = async (method, path) => {
            if (!points[point].test(`${method} ${path}`)) return;
            await created.promise;
            await gateway?.kill9();
            killed.resolve();
          };
          await killed.promise;
          vendor.beforeAnswer = () => undefined;
        };
        const names = Array.from({ length: rowCount }, (_, n) => `row-${n}`);
        const rows = names.map((name, n) =>
          chatRow(name, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
        );
        const [first, ...others] = kills;
        const firstKill = killAt(first);
        const { id } = await createBatch(client, rows);
        created.resolve();
        await firstKill;
        for (const point of others) {
          const kill = killAt(point);
          // It may be killed before it is ready.
          await Promise.allSettled([gateway.restart()]);
          await kill;
        }
        await gateway.restart();
        await until(() => vendor.batches.length > 0);
        vendor.end("expired");
        const done = await ended(client, id);
        expect(vendor.batches).toHaveLength(1);
        const completed = count("answered");
        expect(done).toMatchObject({
          status: "expired",
          request_counts: { total: rowCount, completed, failed: rowCount - completed },
        });
        const good = await linesOf(client, done.output_file_id);
        const bad = await linesOf(client, done.error_file_id);
        expect(good.map(({ custom_id }) => custom_id)).toEqual(names.filter((_, n) => answered(n)));
        expect(bad.map(({ custom_id }) => custom_id)).toEqual(names.filter((_, n) => !answered(n)));
        const entries = (await exportedEntries(gateway)).filter(({ batch_id }) => batch_id === id);
        expect(entries).toHaveLength(completed + count("failed"));
        expect(new Set(entries.map(({ custom_id }) => custom_id)).size).toBe(entries.length);
        const cost = entries.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0);
        expect(cost).toBe((completed * rowCost) / 2);
        // Money that is held counts as used, so none is.
        const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${secret}` } });
        const { limits } = (await usage.json()) as { limits: readonly { kind: string; used: number }[] };
        expect(limits.find(({ kind }) => kind === "budget")?.used).toBeCloseTo(cost / 1e9, 9);
      } finally {
        vendor.beforeAnswer = () => undefined;
        await gateway?.remove();
        await database?.[Symbol.asyncDispose]();
        vendor.stop();
      }
    },
  );
}

/** Reads how many lines of the vendor's result are in the ledger. */
function settledLinesOf({ dataDir }: Gateway, database: { readonly url: string } | null): () => Promise<number> {
  const query = "select vendor_lines as count from batches where due_at is not null";
  if (database === null) {
    return async () => {
      using file = new Database(join(dataDir, "sluice.db"), { readonly: true });
      // A gateway that starts again locks the file while it recovers it.
      file.run(`pragma busy_timeout = ${patienceMs}`);
      return (file.query(query).get() as { count: number } | null)?.count ?? Number.POSITIVE_INFINITY;
    };
  }
  return async () => {
    const opened = await openPostgres({ url: database.url, poolSize: 1 });
    const { rows } = await sql<{ count: string }>`${sql.raw(query)}`
      .execute(opened.kysely)
      .finally(() => opened.close());
    return Number(rows[0]?.count ?? Number.POSITIVE_INFINITY);
  };
}
