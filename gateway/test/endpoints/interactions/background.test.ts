import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { settled, spentUsd } from "../../background-fixture.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { create, type Interaction, startInteractions } from "./interactions-gateway.ts";

let clock: MovedClock;
let gateway: StartedGateway;
beforeEach(async () => {
  clock = new MovedClock();
  const keys = [{ name: "alice", secret: aliceKey, budget: { usd: 0.1, period: "total" as const } }];
  gateway = await startInteractions({ clock, keys });
});
afterEach(() => gateway.stop());

/** At 10 USD per million output tokens it holds about 0.07 USD. */
const ask = { background: true, generation_config: { max_output_tokens: 7_003 } };
const done = { tokens: 3, reasoning_tokens: 7_000, background_ms: 20 };
const never = { ...done, background_ms: 600_000 };

const send = (path: string, method = "GET"): Promise<Response> =>
  fetch(`${gateway.url}/v1beta/interactions/${path}`, { method, headers: { "x-goog-api-key": aliceKey } });

async function finished(id: string): Promise<void> {
  await until(async () => ((await (await send(id)).json()) as Interaction).status === "completed");
}

test("reserves its cost until it is done, and is charged once", async () => {
  const { id, status } = await create(gateway, ask, { script: done });
  expect(status).toBe("queued");
  expect((await gateway.post("/v1beta/interactions", { model: "gemini", input: "Hi", ...ask })).status).not.toBe(200);
  await finished(id);
  const entries = await settled(gateway, clock, 1);
  expect(entries).toMatchObject([
    {
      endpoint: "interactions",
      outcome: "succeeded",
      usageSource: "upstream",
      usage: { output: 7_003 },
      upstreamId: id,
    },
  ]);
  expect(await spentUsd(gateway)).toBeCloseTo((entries[0]?.costNanoUsd ?? 0) / 1e9, 9);
});

test("can be continued, with the kept input in the reservation", async () => {
  const { id } = await create(gateway, ask, { script: { ...done, prompt_tokens: 20_000 } });
  await finished(id);
  await settled(gateway, clock, 1);
  const more = { previous_interaction_id: id, generation_config: { max_output_tokens: 1_000 } };
  // 27,003 kept tokens and 1,000 of output cost more than is left of 0.1 USD.
  const next = await gateway.post("/v1beta/interactions", { model: "gemini", input: "Go on.", ...more });
  expect(next.status).toBe(402);
});

test("is charged as an estimate when it is canceled while it runs", async () => {
  const { id } = await create(gateway, ask, { script: never });
  expect(((await (await send(`${id}/cancel`, "POST")).json()) as Interaction).status).toBe("cancelled");
  const [entry] = await settled(gateway, clock, 1);
  expect(entry).toMatchObject({ usageSource: "estimated", upstreamId: id });
});

test("is charged when it is deleted before it was read", async () => {
  const { id } = await create(gateway, ask, { script: { ...done, background_ms: 0 } });
  expect((await send(id, "DELETE")).status).toBe(200);
  expect(await settled(gateway, clock, 1)).toMatchObject([{ usageSource: "upstream", usage: { output: 7_003 } }]);
});

test("a stream is charged in full when its caller has disconnected", async () => {
  const going = new AbortController();
  const body = { model: "gemini", input: "Hi", stream: true, ...ask };
  const script = { ...done, tokens: 30, event_ms: 5 };
  const response = await gateway.post("/v1beta/interactions", body, { script, signal: going.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  going.abort();
  expect(await settled(gateway, clock, 1)).toMatchObject([{ usageSource: "upstream", usage: { output: 7_030 } }]);
});
