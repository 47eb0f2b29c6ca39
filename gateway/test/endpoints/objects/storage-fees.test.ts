import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, type StartedGateway, upstream } from "../../started-gateway.ts";
import { startFilesGateway } from "../files/files-gateway.ts";

const poorKey = "sk-poor-0123456789abcdefghijkl";
const dayMs = 86_400_000;
/** Longer than the time between two checks. */
const checkMs = 900_000;

interface Started {
  readonly gateway: StartedGateway;
  readonly clock: MovedClock;
  /** Returns its id. */
  readonly createStore: (bytes: number, key?: string) => Promise<string>;
  /** Charges of storage in USD, by store, oldest first. */
  readonly fees: () => Promise<readonly string[]>;
}

async function start(): Promise<Started> {
  const clock = new MovedClock();
  // Far from the end of a day.
  clock.move(dayMs - (clock.now() % dayMs));
  const gateway = await startFilesGateway({
    clock,
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai", settings: { object_prices: { vector_store: 0 } } }),
      upstream("anthropic", simulator, { kind: "anthropic" }),
      upstream("gemini", simulator, { kind: "gemini" }),
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "poor", secret: poorKey, budget: { usd: 0.2, period: "total" } },
    ],
  });
  return {
    gateway,
    clock,
    async createStore(bytes, key = aliceKey) {
      const made = await gateway.post("/v1/vector_stores", { name: "docs" }, { key });
      const { id } = (await made.json()) as { id: string };
      // The simulator keeps every member.
      const grown = await gateway.post(`/v1/vector_stores/${id}`, { usage_bytes: bytes }, { key });
      expect([made.status, grown.status]).toEqual([200, 200]);
      // The check reads objects from the database.
      await gateway.entries();
      return id;
    },
    async fees() {
      const entries = (await gateway.entries()).filter(({ adjustment }) => adjustment === "storage");
      return entries.toReversed().map(({ adjusts, costNanoUsd }) => `${adjusts} ${costNanoUsd / 1e9}`);
    },
  };
}

test("charges each vector store once a day by its size, without the first gigabyte of the account", async () => {
  const { gateway, clock, createStore, fees } = await start();
  try {
    const large = await createStore(3e9);
    const small = await createStore(1e9);
    await createStore(0);
    clock.move(checkMs);
    await until(async () => (await fees()).length === 2);
    // 3 of 4 GB cost 0.30 USD.
    expect((await fees()).toSorted()).toEqual([`${large} 0.225`, `${small} 0.075`].toSorted());
    const [entry] = (await gateway.entries()).filter(({ adjustment }) => adjustment !== undefined);
    expect(entry).toMatchObject({ endpoint: "adjustment", provider: "openai", calls: 0, costSource: "adjustment" });
    expect([entry?.keyId, entry?.groupId]).not.toContain("");

    // The vendor deletes one.
    const url = new URL(`/v1/vector_stores/${large}`, gateway.simulator.url);
    expect(
      (await fetch(url, { method: "DELETE", headers: { authorization: "Bearer sk-upstream-of-openai" } })).status,
    ).toBe(200);
    await gateway.post(`/v1/vector_stores/${small}`, { usage_bytes: 2e9 });
    clock.move(dayMs);
    await until(async () => (await fees()).length > 2);
    expect((await fees()).slice(2)).toEqual([`${small} 0.1`]);
  } finally {
    await gateway.stop();
  }
});

test("counts storage in the budget of the key that made the store", async () => {
  const { gateway, clock, createStore, fees } = await start();
  try {
    const id = await createStore(4e9, poorKey);
    const ask = async () => {
      const body = { model: "openai", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };
      return (await gateway.post("/v1/chat/completions", body, { key: poorKey })).status;
    };
    expect(await ask()).toBe(200);
    clock.move(checkMs);
    await until(async () => (await fees()).length === 1);
    await until(async () => (await ask()) === 402);
    expect((await gateway.post(`/v1/vector_stores/${id}/search`, { query: "x" }, { key: poorKey })).status).toBe(402);
  } finally {
    await gateway.stop();
  }
});
