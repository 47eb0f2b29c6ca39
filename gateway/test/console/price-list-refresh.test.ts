import { expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PriceListSource } from "#config/index.ts";
import { Failure } from "#core/index.ts";
import type { ActiveLease, Leadership } from "#ports/index.ts";
import { until } from "../../../test/until.ts";
import { refreshPriceList } from "../../src/main/price-list.ts";
import { openModelsGround } from "./models-ground.ts";

const hourMs = 3_600_000;
const keys = generateKeyPairSync("ed25519");

/** What a model costs, in a file, and whoever looks there each hour. */
async function openRefresh(more: Partial<PriceListSource> = {}) {
  const ground = await openModelsGround();
  // What is read here is newer than what comes with the program.
  ground.clock.jump(Date.UTC(2026, 10, 24) - ground.clock.now());
  await ground.makeProvider("main", { kind: "openai" });
  await ground.makeModel("gpt-5", { deployments: [{ provider: "main" }] });
  await ground.makeModel("gpt-5-mini", { deployments: [{ provider: "main" }], price: { input: 9 } });
  const folder = mkdtempSync(join(tmpdir(), "sluice-price-list-"));
  const from = join(folder, "prices.json");
  const lines: string[] = [];
  const numbers = new Map<string, () => number>();
  const add = (readers: Readonly<Record<string, () => number>>) => {
    for (const [name, read] of Object.entries(readers)) numbers.set(name, read);
  };
  const stop = refreshPriceList(
    { from, everyMs: hourMs, changes: "review", digest: null, publicKey: null, ...more },
    {
      ...ground,
      transport: { send: () => Promise.reject(new Failure("upstream_unreachable", "it is not asked")) },
      observer: { log: (_level, message) => void lines.push(message) },
      leadership: leader(),
      metrics: { numbers: add },
    },
  );
  const told = async (count: number) => {
    await until(() => lines.length >= count && ground.clock.pending > 0);
    return lines;
  };
  return {
    ground,
    from,
    told,
    number: (name: string) => numbers.get(name)?.(),
    price: async (model: string) => (await ground.controlStore.model(model))?.price ?? null,
    nextHour: () => ground.clock.advance(hourMs),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await ground[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It leads until it is stopped. */
function leader(): Pick<Leadership, "lead"> {
  return {
    lead: (_name, work) => {
      const ending = new AbortController();
      const done = work({ signal: ending.signal } as ActiveLease);
      const stop = (): Promise<void> => {
        ending.abort();
        return done;
      };
      return { isLeading: true, stop };
    },
  };
}

function priceListText(usd: number): string {
  const match = { starts_with: "gpt-5" };
  return JSON.stringify([{ id: "openai", models: [{ id: "gpt-5", match, prices: { input_mtok: usd } }] }]);
}

function signed(from: string, text: string, key: KeyObject): void {
  writeFileSync(from, text);
  writeFileSync(`${from}.sig`, sign(null, Buffer.from(text), key).toString("base64"));
}

test("newer prices wait for somebody, and a source that is away, or no price list, changes nothing", async () => {
  await using refresh = await openRefresh();
  expect(await refresh.told(1)).toEqual(["failed to update the price list; retrying"]);
  writeFileSync(refresh.from, priceListText(3));
  refresh.nextHour();
  expect((await refresh.told(3)).slice(1).sort()).toEqual([
    "new price list available",
    "updates of the price list succeed again",
  ]);
  expect(await refresh.price("gpt-5")).toBe(null);
  expect(refresh.number("sluice_price_list_changes_waiting")).toBe(1);
  const before = await refresh.ground.controlStore.storedPriceList();
  writeFileSync(refresh.from, "[]");
  refresh.nextHour();
  await refresh.told(4);
  expect(refresh.number("sluice_price_list_refresh_failures_total")).toBe(2);
  expect(await refresh.ground.controlStore.storedPriceList()).toEqual(before);
  // Another process may look from now on, and tells of them.
  await refresh.stop();
  expect(refresh.number("sluice_price_list_changes_waiting")).toBe(0);
});

test("the metric says how old the price list in use is, and a list that is the same makes it no younger", async () => {
  await using refresh = await openRefresh();
  await refresh.told(1);
  writeFileSync(refresh.from, priceListText(3));
  refresh.nextHour();
  await refresh.told(3);
  expect(refresh.number("sluice_price_list_age_seconds")).toBe(0);
  for (let hour = 1; hour <= 3; hour++) {
    refresh.nextHour();
    await until(() => refresh.ground.clock.pending > 0);
    expect(refresh.number("sluice_price_list_age_seconds")).toBe(hour * 3_600);
  }
});

test("with `apply`, a signed price list changes prices that no person has set, and one signed with another key changes nothing", async () => {
  const other = generateKeyPairSync("ed25519");
  await using refresh = await openRefresh({ changes: "apply", publicKey: keys.publicKey });
  await refresh.told(1);
  signed(refresh.from, priceListText(3), other.privateKey);
  refresh.nextHour();
  await until(() => refresh.number("sluice_price_list_refresh_failures_total") === 2);
  await until(() => refresh.ground.clock.pending > 0);
  expect(await refresh.ground.controlStore.storedPriceList()).toBe(null);
  signed(refresh.from, priceListText(3), keys.privateKey);
  refresh.nextHour();
  await refresh.told(3);
  expect(await refresh.price("gpt-5")).toMatchObject({ origin: "price_list" });
  expect(await refresh.price("gpt-5-mini")).not.toMatchObject({ origin: "price_list" });
  const first = (await refresh.price("gpt-5"))?.id;
  signed(refresh.from, priceListText(4), keys.privateKey);
  refresh.nextHour();
  await refresh.told(4);
  expect((await refresh.price("gpt-5"))?.id).not.toBe(first ?? "");
  expect(await refresh.ground.controlStore.listPrices("gpt-5")).toHaveLength(2);
  expect(refresh.number("sluice_price_list_changes_waiting")).toBe(0);
});

test("signed data may begin with a mark of the order of its bytes", async () => {
  await using refresh = await openRefresh({ changes: "apply", publicKey: keys.publicKey });
  await refresh.told(1);
  signed(refresh.from, `\ufeff${priceListText(3)}`, keys.privateKey);
  refresh.nextHour();
  await refresh.told(3);
  expect(await refresh.price("gpt-5")).toMatchObject({ origin: "price_list" });
});

test("data of another digest than the pinned one changes nothing", async () => {
  await using refresh = await openRefresh({ digest: "0".repeat(64) });
  await refresh.told(1);
  writeFileSync(refresh.from, priceListText(3));
  refresh.nextHour();
  await until(() => refresh.number("sluice_price_list_refresh_failures_total") === 2);
  expect(await refresh.ground.controlStore.storedPriceList()).toBe(null);
});
