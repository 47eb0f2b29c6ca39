import { expect, test } from "bun:test";
import { bounds, type UpstreamObject } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { UpstreamObjects } from "./upstream-objects.ts";

const object = (id: string, change: Partial<UpstreamObject> = {}): UpstreamObject => ({
  id,
  kind: "response",
  inputTokens: 7,
  expiresAt: null,
  workspaceId: "ws_1",
  keyId: "key_1",
  personId: null,
  session: null,
  provider: "main",
  deployment: "dep_1",
  model: "m",
  upstreamModel: "up",
  createdAt: 0,
  ...change,
});

function fixture(stored: UpstreamObject[] = []) {
  const clock = new FakeClock();
  let reads = 0;
  const find = async (workspaceId: string, ids: readonly string[]) => {
    reads++;
    return stored.filter((one) => one.workspaceId === workspaceId && ids.includes(one.id));
  };
  const objects = new UpstreamObjects({
    objectStore: { find, list: async () => [], put: async () => undefined },
    clock,
    sharesLedger: true,
  });
  const look = async (ids: readonly string[], waits: boolean) => {
    const found = objects.find("ws_1", ids, { waits, signal: new AbortController().signal });
    let done = false;
    void found.finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!done) clock.advance(bounds.objectWaitMs);
    }
    return [...(await found).keys()];
  };
  return { clock, objects, look, stored, reads: () => reads };
}

test("does not read the database for objects made or used in this process", async () => {
  const { objects, look, stored, reads } = fixture([object("old")]);
  objects.remember(object("new"));
  expect([await look(["new"], true), reads()]).toEqual([["new"], 0]);
  expect([await look(["old", "new"], true), await look(["old"], true), reads()]).toEqual([["new", "old"], ["old"], 1]);
  stored.length = 0;
  expect(await look(["old"], true)).toEqual(["old"]);
});

test("keeps the memory of a container that a model call uses", async () => {
  const { objects } = fixture();
  const container = (upstreamModel: string) => object("cntr", { kind: "container", upstreamModel });
  const read = async () => (await objects.find("ws_1", ["cntr"], { waits: false, signal })).get("cntr")?.upstreamModel;
  const { signal } = new AbortController();
  objects.remember(container("container-16g"));
  objects.remember(container("gpt"));
  expect(await read()).toBe("container-16g");
  objects.remember(container("container-64g"));
  expect(await read()).toBe("container-64g");
});

test("does not return expired objects", async () => {
  const { clock, objects, look } = fixture();
  objects.remember(object("short", { expiresAt: clock.now() + 10 }));
  expect(await look(["short"], false)).toEqual(["short"]);
  clock.advance(10);
  expect(await look(["short"], false)).toEqual([]);
});

test("waits for objects of another process, and only once for missing ones", async () => {
  const { clock, look, stored, reads } = fixture();
  const begun = clock.monotonic();
  expect(await look(["none"], true)).toEqual([]);
  const waited = clock.monotonic() - begun;
  expect([waited > bounds.objectWaitMsMax, waited < 3 * bounds.objectWaitMsMax]).toEqual([true, true]);
  const at = clock.monotonic();
  const before = reads();
  expect([await look(["none"], true), clock.monotonic(), reads()]).toEqual([[], at, before + 1]);
  clock.after(120, () => void stored.push(object("late")));
  expect(await look(["late"], true)).toEqual(["late"]);
});
