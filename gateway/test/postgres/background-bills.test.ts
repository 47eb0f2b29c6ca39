import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { openPostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";
import { startGateway, upstream } from "../started-gateway.ts";

await onPostgres("several processes", () => {
  test("an answer made in the background that two see done at once is paid for once", async () => {
    await using ground = await openPostgresGround();
    const environment = { databaseUrl: new Secret(ground.url), masterKey: new Secret("k".repeat(43)) };
    const price = { input: 1, output: 10 };
    const models = [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }];
    const first = await startGateway({
      environment,
      models,
      providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
    });
    // A data directory, a journal and a memory of its own; the same database and upstream.
    const second = await startGateway({
      environment,
      models,
      providers: () => [upstream("main", first.simulator, { kind: "openai" })],
    });
    try {
      const ask = { model: "gpt-test", input: "Say hello", background: true };
      const account = { authorization: "Bearer sk-upstream-of-main" };
      const script = { tokens: 20, background_ms: 20 };
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) {
        const made = (await (await first.post("/v1/responses", ask, { script })).json()) as { readonly id: string };
        ids.push(made.id);
        await until(async () => {
          const seen = await fetch(`${first.simulator.url}/responses/${made.id}`, { headers: account });
          return ((await seen.json()) as { readonly status: string }).status === "completed";
        });
      }
      await first.entries();
      const views = ids.flatMap((id) =>
        [first, second].map(async (one) => (await one.get(`/v1/responses/${id}`)).status),
      );
      expect(new Set(await Promise.all(views))).toEqual(new Set([200]));
      await first.entries();
      const entries = await second.entries();
      const outputs = entries.filter(({ usageSource }) => usageSource !== "none").map(({ usage }) => usage.output);
      expect(outputs).toEqual(ids.map(() => 20));
    } finally {
      await second.stop();
      await first.stop();
    }
  });
});
