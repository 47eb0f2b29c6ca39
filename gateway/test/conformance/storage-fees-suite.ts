import { describe, expect, test } from "bun:test";
import type { ApiKey, ConfigSnapshot, Provider } from "#core/index.ts";
import { createAdjustments } from "#ledger/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { StorageFees } from "#relay/index.ts";
import { createSharedFacts, createUpstreamObjectStore } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { providerOf } from "../provider-fixture.ts";
import { noWorkload } from "../workload-fixture.ts";
import { ledgerEntry, newYear, type StoreFixture, type StoreFixtureFactory, silentObserver } from "./store-fixture.ts";

const gigabyte = 1e9;
const hour = 3_600_000;

/** Guarantees of storage fees on every implementation of the ledger's stores. */
export function storageFeesSuite(name: string, make: StoreFixtureFactory): void {
  describe(`storage fees: ${name}`, () => {
    test("two processes charge each store once", async () => {
      await using fixture = await make();
      await using vendor = openVendor(fixture);
      await vendor.stores({ vs_1: 2 * gigabyte, vs_2: gigabyte });
      await Promise.all([vendor.fees().run(never), vendor.fees().run(never)]);
      await vendor.fees().run(never);
      // 2 of 3 GB cost 0.20 USD.
      expect(await vendor.charged()).toEqual(["vs_1 133333334", "vs_2 66666667"]);
    });

    test("a crash before the day is complete charges nothing twice, also if a key has moved and a store has grown", async () => {
      await using fixture = await make();
      await using vendor = openVendor(fixture);
      await vendor.stores({ vs_1: 2 * gigabyte });
      const crash = async (): Promise<never> => {
        throw new Error("killed");
      };
      await expect(vendor.fees({ writeMark: crash }).run(never)).rejects.toThrow("killed");
      vendor.sizes.set("vs_1", 9 * gigabyte);
      vendor.key = { groupId: "grp_other", tags: { team: "other" } };
      await vendor.fees().run(never);
      expect(await vendor.charged()).toEqual(["vs_1 100000000"]);
      expect(await vendor.mark()).toBe("2026-01-01");
    });

    test("a store that could not be read is read again an hour later, and the others are charged at once", async () => {
      await using fixture = await make();
      await using vendor = openVendor(fixture);
      await vendor.stores({ vs_1: 3 * gigabyte, vs_2: 3 * gigabyte });
      vendor.sizes.delete("vs_2");
      const fees = vendor.fees();
      await fees.run(never);
      expect(await vendor.charged()).toEqual(["vs_1 200000000"]);
      expect(await vendor.mark()).toBeNull();
      vendor.sizes.set("vs_2", 3 * gigabyte);
      await fees.run(never);
      expect((await vendor.charged()).length).toBe(1);
      vendor.laterMs = hour;
      await fees.run(never);
      expect(await vendor.charged()).toEqual(["vs_1 200000000", "vs_2 250000000"]);
      expect(await vendor.mark()).toBe("2026-01-01");
    });

    test.each([
      { reason: "it has no price of stored data", change: { kind: "azure-openai" } },
      { reason: "it is disabled", change: { enabled: false } },
    ])("an account is charged later the same day, if $reason at first, which is reported once", async (given) => {
      await using fixture = await make();
      await using vendor = openVendor(fixture);
      await vendor.stores({ vs_1: 3 * gigabyte });
      const logged: object[] = [];
      const log = (level: string, _message: string, fields: object = {}) => {
        if (level === "warn") logged.push(fields);
      };
      const fees = vendor.fees({ observer: { ...silentObserver, log } });
      Object.assign(vendor.account, given.change);
      await fees.run(never);
      vendor.laterMs = hour;
      await fees.run(never);
      expect([await vendor.charged(), await vendor.mark()]).toEqual([[], null]);
      expect(logged).toEqual([{ provider: "up", day: "2026-01-01", reason: given.reason }]);
      Object.assign(vendor.account, { kind: "openai", enabled: true });
      vendor.laterMs = 2 * hour;
      await fees.run(never);
      expect([await vendor.charged(), await vendor.mark()]).toEqual([["vs_1 200000000"], "2026-01-01"]);
    });
  });
}

const never = new AbortController().signal;

/** An account that reports the sizes of vector stores. Reading a store without a size fails. */
function openVendor({ database, ledgerStore }: StoreFixture) {
  const sizes = new Map<string, number>();
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    fetch(request) {
      const id = new URL(request.url).pathname.split("/").at(-1) ?? "";
      const usage_bytes = sizes.get(id);
      if (usage_bytes === undefined) return Response.json({ error: { message: "broken" } }, { status: 500 });
      return Response.json({ id, object: "vector_store", usage_bytes });
    },
  });
  const provider = providerOf("openai", { id: "up", baseUrl: `${server.url.origin}/v1`, allowPrivateNetwork: true });
  const transport = createTransport({ clock: systemClock });
  const facts = createSharedFacts(database);
  const vendor = {
    sizes,
    /** Changes to the account. */
    account: {} as Partial<Provider>,
    /** Of the key that made the stores. */
    key: { groupId: "grp_1", tags: {} } as Pick<ApiKey, "groupId" | "tags">,
    laterMs: 0,
    async stores(all: Readonly<Record<string, number>>) {
      for (const [id, bytes] of Object.entries(all)) {
        sizes.set(id, bytes);
        const object = { id, kind: "vector_store", inputTokens: null, expiresAt: null } as const;
        await ledgerStore.insert([ledgerEntry(id, { provider: "up", objects: [object] })]);
      }
    },
    fees: (more: Partial<ConstructorParameters<typeof StorageFees>[0]> = {}) =>
      new StorageFees({
        objectStore: createUpstreamObjectStore(database),
        adjustments: createAdjustments({ store: ledgerStore }),
        configSnapshot: () =>
          ({ providers: new Map([["up", { ...provider, ...vendor.account }]]) }) as unknown as ConfigSnapshot,
        sharesAccount: () => true,
        providerClient: new ProviderClient(transport, systemClock, noWorkload),
        clock: { ...systemClock, now: () => newYear + vendor.laterMs + hour, monotonic: () => vendor.laterMs },
        observer: silentObserver,
        keyById: async (id) => ({ id, ...vendor.key }) as ApiKey,
        readMark: vendor.mark,
        writeMark: (day) => facts.write("storage_fees.day", day),
        ...more,
      }),
    mark: () => facts.read("storage_fees.day"),
    async charged() {
      const { entries } = await ledgerStore.page({}, null, 100);
      const booked = entries.filter(({ adjustment }) => adjustment === "storage");
      return booked.map(({ adjusts, costNanoUsd }) => `${adjusts} ${costNanoUsd}`).toSorted();
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
  return vendor;
}
