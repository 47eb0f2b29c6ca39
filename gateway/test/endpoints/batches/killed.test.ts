import { describe, expect, test } from "bun:test";
import { type Gateway, startGateway } from "../../../../test/acceptance/start-gateway.ts";
import { until } from "../../../../test/until.ts";
import { seededRandom } from "../../described-bodies.ts";
import { emptyPostgres } from "../../postgres-fixture.ts";
import { onPostgres } from "../../postgres-server.ts";
import { chatRow, clientOf, createBatch, ended, linesOf } from "./batch-client.ts";
import { rowCost } from "./batch-gateway.ts";
import { exportedEntries } from "./exported-entries.ts";
import { RowUpstream } from "./row-upstream.ts";

const secret = "sk-acme-alice-00000000000001";
const rowCount = 400;
const kills = 2;

describe("SQLite", () => suite([1, 2, 3], async () => null));
await onPostgres("PostgreSQL", () => suite([4], emptyPostgres));

function suite(
  seeds: readonly number[],
  open: () => Promise<(AsyncDisposable & { readonly url: string }) | null>,
): void {
  test.each(seeds)("a process that is killed neither loses a row nor runs one twice (seed %d)", async (seed) => {
    const random = seededRandom(seed);
    const rows = new RowUpstream();
    const database = await open();
    let gateway: Gateway | null = null;
    try {
      gateway = await startGateway({
        config: {
          providers: [
            {
              id: "main",
              kind: "openai-compatible",
              base_url: rows.url,
              api_key: "sk-up",
              allow_private_network: true,
            },
          ],
          models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
          workspaces: [{ slug: "acme", keys: [{ name: "alice", secret, budget: { usd: 1, period: "total" } }] }],
        },
        env: database === null ? {} : { SLUICE_DATABASE_URL: database.url },
      });
      const client = clientOf(gateway, secret);
      const { id } = await createBatch(
        client,
        Array.from({ length: rowCount }, (_, n) =>
          chatRow(`row-${n}`, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
        ),
      );
      for (let kill = 1; kill <= kills; kill++) {
        const at = rows.total + 1 + Math.floor((random() * rowCount) / (kills + 1));
        await until(() => rows.total >= Math.min(at, rowCount));
        await gateway.kill9();
        await gateway.restart();
      }
      const done = await ended(client, id);
      expect(done.request_counts).toMatchObject({ total: rowCount });
      expect((done.request_counts?.completed ?? 0) + (done.request_counts?.failed ?? 0)).toBe(rowCount);
      const succeeded = await linesOf(client, done.output_file_id);
      const failed = await linesOf(client, done.error_file_id);
      const names = [...succeeded, ...failed].map(({ custom_id }) => custom_id);
      expect(new Set(names).size).toBe(rowCount);
      expect(names).toHaveLength(rowCount);
      // Only rows that ran, or that had ended and were not stored yet.
      expect(failed.length).toBeLessThanOrEqual(kills * (16 + 64));
      expect([...rows.calls.values()].filter((count) => count > 1)).toEqual([]);
      for (const { response } of failed)
        expect(response?.body).toMatchObject({ error: { message: expect.stringContaining("stopped") } });
      const entries = await exportedEntries(gateway);
      const ofBatch = entries.filter(({ batch_id }) => batch_id === id);
      const answered = ofBatch.filter(({ outcome }) => outcome === "succeeded");
      // Each row has an entry, even if it was only about to be sent.
      expect(ofBatch).toHaveLength(rowCount);
      expect(new Set(ofBatch.map(({ custom_id }) => custom_id)).size).toBe(rowCount);
      expect(
        new Set(succeeded.map(({ custom_id }) => custom_id)).isSubsetOf(
          new Set(answered.map(({ custom_id }) => custom_id)),
        ),
      ).toBe(true);
      expect(answered.every(({ cost_nano_usd }) => cost_nano_usd === rowCost)).toBe(true);
      const usage = (await (
        await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${secret}` } })
      ).json()) as {
        limits: readonly { kind: string; used: number }[];
      };
      const cost = ofBatch.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0);
      expect(usage.limits.find(({ kind }) => kind === "budget")?.used).toBeCloseTo(cost / 1e9, 9);
    } finally {
      await gateway?.remove();
      await database?.[Symbol.asyncDispose]();
      rows.stop();
    }
  });
}
