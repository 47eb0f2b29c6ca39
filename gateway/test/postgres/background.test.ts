import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { startGateway, upstream } from "../started-gateway.ts";

await onPostgres("several processes", () => {
  test("one of two processes charges each background response, even when both are asked for it", async () => {
    await using fixture = await openPostgresFixture();
    const environment = { databaseUrl: new Secret(fixture.url), masterKey: new Secret("k".repeat(43)) };
    const price = { input: 1, output: 10 };
    const models = [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }];
    const first = await startGateway({
      environment,
      models,
      providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
    });
    // Separate data directory, journal and memory; the same database and upstream.
    const second = await startGateway({
      environment,
      models,
      providers: () => [upstream("main", first.simulator, { kind: "openai" })],
    });
    try {
      const ask = { model: "gpt-test", input: "Say hello", background: true };
      const script = { tokens: 20, background_ms: 20 };
      const ids = new Set<string>();
      for (const gateway of [first, second, first, second]) {
        const made = (await (await gateway.post("/v1/responses", ask, { script })).json()) as { readonly id: string };
        ids.add(made.id);
        for (const one of [first, second]) expect((await one.get(`/v1/responses/${made.id}`)).status).toBe(200);
      }
      const entries = await until(async () => {
        const all = await second.entries();
        return all.length >= ids.size ? all : null;
      });
      expect(entries.map(({ usage, upstreamId }) => [usage.output, ids.has(upstreamId ?? "")])).toEqual(
        [...ids].map(() => [20, true]),
      );
      expect(new Set(entries.map(({ upstreamId }) => upstreamId)).size).toBe(ids.size);
    } finally {
      await second.stop();
      await first.stop();
    }
  });
});
