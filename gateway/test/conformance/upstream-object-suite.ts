import { describe, expect, test } from "bun:test";
import { type AttemptObject, bounds } from "#core/index.ts";
import { createUpstreamObjectStore } from "#storage/index.ts";
import { ledgerEntry, newYear, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

/** Guarantees of every implementation of the port `UpstreamObjectStore`, together with the ledger that fills it. */
export function upstreamObjectSuite(name: string, make: StoreFixtureFactory): void {
  describe(`upstream objects: ${name}`, () => {
    test("finds the objects of an entry, only in its workspace", async () => {
      await using fixture = await make();
      const entry = ledgerEntry("a", {
        personId: "usr_ada",
        session: "s-1",
        sessionSource: "agent",
        objects: [storedObject("resp_1"), storedObject("cntr_1", { kind: "container" })],
      });
      await fixture.ledgerStore.insert([entry]);
      const store = createUpstreamObjectStore(fixture.database);
      const { workspaceId, keyId, provider, deployment, model, upstreamModel } = entry;
      const fields = {
        workspaceId,
        keyId,
        personId: "usr_ada",
        session: "s-1",
        provider,
        deployment,
        model,
        upstreamModel,
      };
      expect(await found(fixture, workspaceId, ["resp_1", "cntr_1", "resp_2"])).toEqual([
        { ...fields, ...storedObject("cntr_1", { kind: "container" }), createdAt: entry.endedAt },
        { ...fields, ...storedObject("resp_1"), createdAt: entry.endedAt },
      ]);
      expect(await store.find("ws_other", ["resp_1"])).toEqual([]);
    });

    test("returns the vector stores of all workspaces in pages, without expired ones", async () => {
      await using fixture = await make();
      const entry = (name: string, workspaceId: string, change: Partial<AttemptObject> = {}) =>
        ledgerEntry(name, {
          workspaceId,
          objects: [storedObject(name, { kind: "vector_store", expiresAt: null, ...change })],
        });
      await fixture.ledgerStore.insert([
        entry("vs_1", "ws_2"),
        entry("vs_2", "ws_1"),
        entry("vs_3", "ws_2"),
        entry("vs_4", "ws_1", { expiresAt: newYear + 5 }),
        entry("cntr_5", "ws_1", { kind: "container" }),
      ]);
      const store = createUpstreamObjectStore(fixture.database);
      const page = (after: { workspaceId: string; id: string } | null) =>
        store.everywhere("vector_store", { now: newYear + 60_000, after, limit: 2 });
      const first = await page(null);
      expect(first.map(({ id }) => id)).toEqual(["vs_2", "vs_1"]);
      expect((await page(first[1] ?? null)).map(({ id }) => id)).toEqual(["vs_3"]);
    });

    test("returns the newest objects of several kinds, of a key or visible to a person", async () => {
      await using fixture = await make();
      const entry = (name: string, kind: AttemptObject["kind"], change: object, expiresAt: number | null = null) =>
        ledgerEntry(name, { objects: [storedObject(name, { kind, expiresAt })], ...change });
      const entries = [
        entry("conv_1", "conversation", { endedAt: newYear + 1, keyId: "key_1", personId: "usr_ada" }),
        entry("cntr_2", "container", { endedAt: newYear + 2, keyId: "key_2", personId: "usr_bob" }),
        entry("conv_3", "conversation", { endedAt: newYear + 3, keyId: "key_2" }),
        entry("conv_4", "conversation", { endedAt: newYear + 4 }, newYear + 5),
        entry("resp_5", "response", { endedAt: newYear + 5 }),
      ];
      await fixture.ledgerStore.insert(entries);
      const store = createUpstreamObjectStore(fixture.database);
      const workspaceId = entries[0]?.workspaceId ?? "";
      const newest = async (change: object) => {
        const query = { kinds: ["conversation", "container"] as const, now: newYear + 60_000, limit: 10, ...change };
        return (await store.newest(workspaceId, query)).map(({ id }) => id);
      };
      expect(await newest({})).toEqual(["conv_3", "cntr_2", "conv_1"]);
      expect(await newest({ limit: 2 })).toEqual(["conv_3", "cntr_2"]);
      expect(await newest({ keyId: "key_2" })).toEqual(["conv_3", "cntr_2"]);
      expect(await newest({ visiblePerson: "usr_ada" })).toEqual(["conv_3", "conv_1"]);
      expect(await store.newest("ws_other", { kinds: ["container"], now: 0, limit: 10 })).toEqual([]);
    });

    test("lists a workspace's objects of one kind by their time of record, in pages, without expired ones", async () => {
      await using fixture = await make();
      const at = (minutes: number, id: string, change: Partial<AttemptObject> = {}, workspaceId?: string) =>
        ledgerEntry(`e-${id}`, {
          endedAt: newYear + minutes * 60_000,
          objects: [storedObject(id, { kind: "container", expiresAt: null, ...change })],
          ...(workspaceId === undefined ? {} : { workspaceId }),
        });
      const first = at(1, "cntr_1");
      await fixture.ledgerStore.insert([
        ...[first, at(2, "cntr_3"), at(2, "cntr_2"), at(3, "skill_1", { kind: "skill" })],
        ...[at(4, "cntr_4", { expiresAt: newYear }), at(5, "cntr_5", {}, "ws_other")],
      ]);
      const store = createUpstreamObjectStore(fixture.database);
      const now = newYear + 3_600_000;
      const query = { kind: "container", providers: [first.provider], now, limit: 2 } as const;
      const page = async (after: { createdAt: number; id: string } | null, isOldestFirst = false) =>
        await store.list(first.workspaceId, { ...query, after, isOldestFirst });
      const newest = await page(null);
      expect(newest.map(({ id }) => id)).toEqual(["cntr_3", "cntr_2"]);
      expect((await page(newest[1] ?? null)).map(({ id }) => id)).toEqual(["cntr_1"]);
      expect((await page(null, true)).map(({ id }) => id)).toEqual(["cntr_1", "cntr_2"]);
      const elsewhere = { ...query, providers: ["other"], after: null, isOldestFirst: false };
      expect(await store.list(first.workspaceId, elsewhere)).toEqual([]);
    });

    test("returns an object of two workspaces to each as its own", async () => {
      await using fixture = await make();
      const own = ledgerEntry("a", { objects: [storedObject("resp_1", { inputTokens: 1 })] });
      const other = ledgerEntry("b", {
        workspaceId: "ws_other",
        objects: [storedObject("resp_1", { inputTokens: 2 })],
      });
      await fixture.ledgerStore.insert([own, other]);
      expect((await found(fixture, own.workspaceId, ["resp_1"]))[0]?.inputTokens).toBe(1);
      expect((await found(fixture, "ws_other", ["resp_1"]))[0]?.inputTokens).toBe(2);
    });

    test("uses the newest record in any order of arrival, and keeps known token counts", async () => {
      await using fixture = await make();
      const at = (minutes: number, change: Partial<AttemptObject>) =>
        ledgerEntry(`m${minutes}`, {
          endedAt: newYear + minutes * 60_000,
          provider: `account-${minutes}`,
          objects: [storedObject("resp_1", change)],
        });
      const [first, second, third] = [
        at(1, { inputTokens: 70 }),
        at(2, { inputTokens: null }),
        at(3, { expiresAt: 9 }),
      ];
      if (first === undefined || second === undefined || third === undefined)
        throw new Error("there must be three entries");
      await fixture.ledgerStore.insert([second, first]);
      await fixture.ledgerStore.insert([first]);
      const read = async () => (await found(fixture, first.workspaceId, ["resp_1"]))[0];
      expect(await read()).toMatchObject({ provider: "account-2" });
      await fixture.ledgerStore.insert([third]);
      await fixture.ledgerStore.insert([first, second, third]);
      expect(await read()).toMatchObject({ provider: "account-3", inputTokens: 100, masked: "sealed", expiresAt: 9 });
    });

    test("keeps the memory of a container when a record without it is newer", async () => {
      await using fixture = await make();
      const at = (minutes: number, upstreamModel: string, id: string) =>
        ledgerEntry(`m${minutes}-${id}`, {
          ...{ upstreamModel, endedAt: newYear + minutes * 60_000 },
          objects: [storedObject(id, { kind: id.startsWith("cntr") ? "container" : "response" })],
        });
      const first = at(1, "container-16g", "cntr_1");
      await fixture.ledgerStore.insert([first, at(2, "gpt", "cntr_1"), at(1, "container-16g", "cntr_2")]);
      await fixture.ledgerStore.insert([at(3, "gpt", "cntr_1"), at(2, "", "cntr_2"), at(2, "gpt", "resp_1")]);
      await fixture.ledgerStore.insert([at(3, "gpt-2", "resp_1"), at(3, "container-4g", "cntr_2")]);
      const read = await found(fixture, first.workspaceId, ["cntr_1", "cntr_2", "resp_1"]);
      expect(read.map(({ upstreamModel }) => upstreamModel)).toEqual(["container-16g", "container-4g", "gpt-2"]);
    });

    test("stores no object of an entry that is rejected", async () => {
      await using fixture = await make();
      const entry = ledgerEntry("a", { objects: [storedObject("resp_1")] });
      const broken = { ...ledgerEntry("b", { objects: [storedObject("resp_2")] }), workspaceId: null as never };
      await fixture.ledgerStore.insert([entry, broken]).catch(() => 0);
      expect(await found(fixture, entry.workspaceId, ["resp_1", "resp_2"])).toEqual([]);
    });

    test("prefers an object that was put to earlier and later records", async () => {
      await using fixture = await make();
      const entry = ledgerEntry("a", { objects: [storedObject("resp_1"), storedObject("resp_2")] });
      await fixture.ledgerStore.insert([{ ...entry, objects: [storedObject("resp_1")] }]);
      const { workspaceId, keyId, provider, deployment, model, upstreamModel } = entry;
      const owned = { workspaceId, keyId, personId: null, session: null, provider, deployment, model, upstreamModel };
      const store = createUpstreamObjectStore(fixture.database);
      for (const id of ["resp_1", "resp_2"]) {
        await store.put({ ...owned, ...storedObject(id, { expiresAt: 5 }), createdAt: entry.endedAt + 1 });
      }
      await fixture.ledgerStore.insert([{ ...entry, attemptId: "att_later" }]);
      await store.put({ ...owned, ...storedObject("resp_1", { expiresAt: 9 }), createdAt: entry.endedAt });
      const read = await found(fixture, workspaceId, ["resp_1", "resp_2"]);
      expect(read.map(({ expiresAt }) => expiresAt)).toEqual([5, 5]);
    });

    test("deletes all expired objects and keeps the others", async () => {
      await using fixture = await make();
      const many = bounds.pruneRows + 3;
      const objects = Array.from({ length: many }, (_, n) => storedObject(`resp_${n}`, { expiresAt: newYear + n }));
      const entry = ledgerEntry("a", {
        objects: [...objects, storedObject("file-1", { kind: "file", expiresAt: null })],
      });
      await fixture.ledgerStore.insert([entry]);
      const store = createUpstreamObjectStore(fixture.database);
      expect(await store.prune(newYear + many - 1)).toBe(many - 1);
      expect(await store.prune(newYear + many - 1)).toBe(0);
      const remaining = await found(fixture, entry.workspaceId, ["resp_0", `resp_${many - 1}`, "file-1"]);
      expect(remaining.map(({ id }) => id)).toEqual(["file-1", `resp_${many - 1}`]);
    });
  });
}

function storedObject(id: string, change: Partial<AttemptObject> = {}): AttemptObject {
  return { id, kind: "response", inputTokens: 100, expiresAt: newYear + 1_000, masked: "sealed", ...change };
}

async function found({ database }: StoreFixture, workspaceId: string, ids: readonly string[]) {
  const objects = await createUpstreamObjectStore(database).find(workspaceId, ids);
  return objects.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
