import { describe, expect, test } from "bun:test";
import { bounds, type KeptObject } from "#core/index.ts";
import { createUpstreamObjectStore } from "#storage/index.ts";
import { ledgerEntry, newYear, type StoreGround, type StoreGroundFactory } from "./store-ground.ts";

/** What every implementation of the port `UpstreamObjectStore` guarantees, together with the ledger that fills it. */
export function upstreamObjectSuite(name: string, make: StoreGroundFactory): void {
  describe(`upstream objects: ${name}`, () => {
    test("finds what an entry kept, for its own workspace alone", async () => {
      await using ground = await make();
      const entry = ledgerEntry("a", {
        personId: "usr_ada",
        objects: [kept("resp_1"), kept("cntr_1", { kind: "container" })],
      });
      await ground.ledgerStore.insert([entry]);
      const store = createUpstreamObjectStore(ground.database);
      const { workspaceId, keyId, provider, deployment, model, upstreamModel } = entry;
      const made = { workspaceId, keyId, personId: "usr_ada", provider, deployment, model, upstreamModel };
      expect(await found(ground, workspaceId, ["resp_1", "cntr_1", "resp_2"])).toEqual([
        { ...made, ...kept("cntr_1", { kind: "container" }), createdAt: entry.endedAt },
        { ...made, ...kept("resp_1"), createdAt: entry.endedAt },
      ]);
      expect(await store.find("ws_other", ["resp_1"])).toEqual([]);
    });

    test("gives an object of two workspaces to each as its own", async () => {
      await using ground = await make();
      const own = ledgerEntry("a", { objects: [kept("resp_1", { inputTokens: 1 })] });
      const other = ledgerEntry("b", { workspaceId: "ws_other", objects: [kept("resp_1", { inputTokens: 2 })] });
      await ground.ledgerStore.insert([own, other]);
      expect((await found(ground, own.workspaceId, ["resp_1"]))[0]?.inputTokens).toBe(1);
      expect((await found(ground, "ws_other", ["resp_1"]))[0]?.inputTokens).toBe(2);
    });

    test("the newest record counts, in whatever order they come, and known tokens stay known", async () => {
      await using ground = await make();
      const at = (minutes: number, change: Partial<KeptObject>) =>
        ledgerEntry(`m${minutes}`, {
          endedAt: newYear + minutes * 60_000,
          provider: `account-${minutes}`,
          objects: [kept("resp_1", change)],
        });
      const [first, second, third] = [
        at(1, { inputTokens: 70 }),
        at(2, { inputTokens: null }),
        at(3, { expiresAt: 9 }),
      ];
      if (first === undefined || second === undefined || third === undefined) throw new Error("three entries");
      await ground.ledgerStore.insert([second, first]);
      await ground.ledgerStore.insert([first]);
      const read = async () => (await found(ground, first.workspaceId, ["resp_1"]))[0];
      expect(await read()).toMatchObject({ provider: "account-2" });
      await ground.ledgerStore.insert([third]);
      await ground.ledgerStore.insert([first, second, third]);
      expect(await read()).toMatchObject({ provider: "account-3", inputTokens: 100, expiresAt: 9 });
    });

    test("an entry that is refused leaves no object behind", async () => {
      await using ground = await make();
      const entry = ledgerEntry("a", { objects: [kept("resp_1")] });
      const broken = { ...ledgerEntry("b", { objects: [kept("resp_2")] }), workspaceId: null as never };
      await ground.ledgerStore.insert([entry, broken]).catch(() => 0);
      expect(await found(ground, entry.workspaceId, ["resp_1", "resp_2"])).toEqual([]);
    });

    test("an object that is put counts over older records, also over those that come later", async () => {
      await using ground = await make();
      const entry = ledgerEntry("a", { objects: [kept("resp_1"), kept("resp_2")] });
      await ground.ledgerStore.insert([{ ...entry, objects: [kept("resp_1")] }]);
      const { workspaceId, keyId, provider, deployment, model, upstreamModel } = entry;
      const owned = { workspaceId, keyId, personId: null, provider, deployment, model, upstreamModel };
      const store = createUpstreamObjectStore(ground.database);
      for (const id of ["resp_1", "resp_2"]) {
        await store.put({ ...owned, ...kept(id, { expiresAt: 5 }), createdAt: entry.endedAt + 1 });
      }
      await ground.ledgerStore.insert([{ ...entry, attemptId: "att_later" }]);
      await store.put({ ...owned, ...kept("resp_1", { expiresAt: 9 }), createdAt: entry.endedAt });
      const read = await found(ground, workspaceId, ["resp_1", "resp_2"]);
      expect(read.map(({ expiresAt }) => expiresAt)).toEqual([5, 5]);
    });

    test("removes what expired, however much, and keeps the rest", async () => {
      await using ground = await make();
      const many = bounds.pruneRows + 3;
      const objects = Array.from({ length: many }, (_, n) => kept(`resp_${n}`, { expiresAt: newYear + n }));
      const entry = ledgerEntry("a", { objects: [...objects, kept("file-1", { kind: "file", expiresAt: null })] });
      await ground.ledgerStore.insert([entry]);
      const store = createUpstreamObjectStore(ground.database);
      expect(await store.prune(newYear + many - 1)).toBe(many - 1);
      expect(await store.prune(newYear + many - 1)).toBe(0);
      const left = await found(ground, entry.workspaceId, ["resp_0", `resp_${many - 1}`, "file-1"]);
      expect(left.map(({ id }) => id)).toEqual(["file-1", `resp_${many - 1}`]);
    });
  });
}

function kept(id: string, change: Partial<KeptObject> = {}): KeptObject {
  return { id, kind: "response", inputTokens: 100, expiresAt: newYear + 1_000, ...change };
}

async function found({ database }: StoreGround, workspaceId: string, ids: readonly string[]) {
  const objects = await createUpstreamObjectStore(database).find(workspaceId, ids);
  return objects.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
