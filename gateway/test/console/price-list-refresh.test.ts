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
import { openModelsFixture } from "./models-fixture.ts";

const hourMs = 3_600_000;
const keys = generateKeyPairSync("ed25519");

/** A price list file, and the hourly refresh that reads it. */
async function openRefresh(more: Partial<PriceListSource> = {}) {
  const fixture = await openModelsFixture();
  // Newer than the price list of the build.
  fixture.clock.jump(Date.UTC(2026, 10, 24) - fixture.clock.now());
  await fixture.makeProvider("main", { kind: "openai" });
  await fixture.makeModel("gpt-5", { deployments: [{ provider: "main" }] });
  await fixture.makeModel("gpt-5-mini", { deployments: [{ provider: "main" }], price: { input: 9 } });
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
      ...fixture,
      transport: { send: () => Promise.reject(new Failure("upstream_unreachable", "it is not asked")) },
      observer: { log: (_level, message) => void lines.push(message) },
      leadership: leader(),
      metrics: { numbers: add },
    },
  );
  const logs = async (count: number) => {
    await until(() => lines.length >= count && fixture.clock.pending > 0);
    return lines;
  };
  return {
    fixture,
    from,
    logs,
    number: (name: string) => numbers.get(name)?.(),
    price: async (model: string) => (await fixture.controlStore.model(model))?.price ?? null,
    nextHour: () => fixture.clock.advance(hourMs),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await fixture[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Leads until it is stopped. */
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

test("new prices wait for approval, and an unavailable source or an invalid list changes nothing", async () => {
  await using refresh = await openRefresh();
  expect(await refresh.logs(1)).toEqual(["failed to update the price list; retrying"]);
  writeFileSync(refresh.from, priceListText(3));
  refresh.nextHour();
  expect((await refresh.logs(3)).slice(1).sort()).toEqual([
    "new price list available",
    "updates of the price list succeed again",
  ]);
  expect(await refresh.price("gpt-5")).toBe(null);
  expect(refresh.number("sluice_price_list_changes_waiting")).toBe(1);
  const before = await refresh.fixture.controlStore.storedPriceList();
  writeFileSync(refresh.from, "[]");
  refresh.nextHour();
  await refresh.logs(4);
  expect(refresh.number("sluice_price_list_refresh_failures_total")).toBe(2);
  expect(await refresh.fixture.controlStore.storedPriceList()).toEqual(before);
  // Another process may refresh from now on, and sets the metrics.
  await refresh.stop();
  expect(refresh.number("sluice_price_list_changes_waiting")).toBe(0);
});

test("the metric reports the age of the price list in use, and an unchanged list does not reset it", async () => {
  await using refresh = await openRefresh();
  await refresh.logs(1);
  writeFileSync(refresh.from, priceListText(3));
  refresh.nextHour();
  await refresh.logs(3);
  expect(refresh.number("sluice_price_list_age_seconds")).toBe(0);
  for (let hour = 1; hour <= 3; hour++) {
    refresh.nextHour();
    await until(() => refresh.fixture.clock.pending > 0);
    expect(refresh.number("sluice_price_list_age_seconds")).toBe(hour * 3_600);
  }
});

test("with `apply`, a signed price list changes prices that nobody has set; one signed with another key changes nothing", async () => {
  const other = generateKeyPairSync("ed25519");
  await using refresh = await openRefresh({ changes: "apply", publicKey: keys.publicKey });
  await refresh.logs(1);
  signed(refresh.from, priceListText(3), other.privateKey);
  refresh.nextHour();
  await until(() => refresh.number("sluice_price_list_refresh_failures_total") === 2);
  await until(() => refresh.fixture.clock.pending > 0);
  expect(await refresh.fixture.controlStore.storedPriceList()).toBe(null);
  signed(refresh.from, priceListText(3), keys.privateKey);
  refresh.nextHour();
  await refresh.logs(3);
  expect(await refresh.price("gpt-5")).toMatchObject({ origin: "price_list" });
  expect(await refresh.price("gpt-5-mini")).not.toMatchObject({ origin: "price_list" });
  const first = (await refresh.price("gpt-5"))?.id;
  signed(refresh.from, priceListText(4), keys.privateKey);
  refresh.nextHour();
  await refresh.logs(4);
  expect((await refresh.price("gpt-5"))?.id).not.toBe(first ?? "");
  expect(await refresh.fixture.controlStore.listPrices("gpt-5")).toHaveLength(2);
  expect(refresh.number("sluice_price_list_changes_waiting")).toBe(0);
});

test("signed data may begin with a byte order mark", async () => {
  await using refresh = await openRefresh({ changes: "apply", publicKey: keys.publicKey });
  await refresh.logs(1);
  signed(refresh.from, `\ufeff${priceListText(3)}`, keys.privateKey);
  refresh.nextHour();
  await refresh.logs(3);
  expect(await refresh.price("gpt-5")).toMatchObject({ origin: "price_list" });
});

test("a list whose digest differs from the pinned one changes nothing", async () => {
  await using refresh = await openRefresh({ digest: "0".repeat(64) });
  await refresh.logs(1);
  writeFileSync(refresh.from, priceListText(3));
  refresh.nextHour();
  await until(() => refresh.number("sluice_price_list_refresh_failures_total") === 2);
  expect(await refresh.fixture.controlStore.storedPriceList()).toBe(null);
});
