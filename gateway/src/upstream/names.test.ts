import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { NameCache } from "./names.ts";

/** A resolver that answers with its call number as address, until it is set to fail. */
function counting() {
  const state = { calls: 0, fails: false };
  const resolve = async () => {
    state.calls++;
    if (state.fails) throw new Error("SERVFAIL");
    return [`192.0.2.${state.calls}`];
  };
  return { state, resolve };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("concurrent callers share one lookup, and a cached name is returned at once", async () => {
  const { state, resolve } = counting();
  const names = new NameCache(new FakeClock(), resolve);
  await Promise.all(Array.from({ length: 50 }, () => names.find("a.example")));
  expect(state.calls).toBe(1);
  expect(names.find("a.example")).toEqual(["192.0.2.1"]);
});

test("a name in use is renewed before it expires, without a wait", async () => {
  const clock = new FakeClock();
  const { state, resolve } = counting();
  const names = new NameCache(clock, resolve);
  await names.find("a.example");
  clock.advance(25_000);
  expect(names.find("a.example")).toEqual(["192.0.2.1"]);
  await settled();
  expect(state.calls).toBe(2);
  expect(names.find("a.example")).toEqual(["192.0.2.2"]);
});

test("an unused name expires after 30 seconds", async () => {
  const clock = new FakeClock();
  const { resolve } = counting();
  const names = new NameCache(clock, resolve);
  await names.find("a.example");
  clock.advance(30_001);
  expect(await names.find("a.example")).toEqual(["192.0.2.2"]);
});

test("while lookups fail the last addresses are used for five minutes, and only the first caller waits", async () => {
  const clock = new FakeClock();
  const { state, resolve } = counting();
  const names = new NameCache(clock, resolve);
  await names.find("a.example");
  state.fails = true;
  clock.advance(30_001);
  expect(await names.find("a.example")).toEqual(["192.0.2.1"]);
  clock.advance(200_000);
  expect(names.find("a.example")).toEqual(["192.0.2.1"]);
  clock.advance(100_000);
  await settled();
  const found = Promise.resolve().then(() => names.find("a.example"));
  await expect(found).rejects.toBeInstanceOf(Failure);
});

test("a lookup times out after two seconds", async () => {
  const clock = new FakeClock();
  const names = new NameCache(clock, () => new Promise(() => {}));
  const found = Promise.resolve(names.find("a.example")).catch((thrown: unknown) => thrown);
  clock.advance(1_999);
  clock.advance(1);
  expect(await found).toMatchObject({ code: "upstream_unreachable", retry: "other" });
  expect(clock.pending).toBe(0);
});

test("a name that was not found is looked up again after a second", async () => {
  const clock = new FakeClock();
  const { state, resolve } = counting();
  state.fails = true;
  const names = new NameCache(clock, resolve);
  for (let i = 0; i < 10; i++) {
    await Promise.resolve()
      .then(() => names.find("a.example"))
      .catch(() => {});
  }
  expect(state.calls).toBe(1);
  clock.advance(1_000);
  state.fails = false;
  expect(await names.find("a.example")).toEqual(["192.0.2.2"]);
});

test("a private name that was not used for long is still private, or judged by a new lookup", async () => {
  const clock = new FakeClock();
  const answers = [["10.0.0.1"], ["10.0.0.2"], ["8.8.8.8"]];
  const names = new NameCache(clock, async () => answers.shift() ?? []);
  expect(await names.kindOf("inner.example")).toBe("private");
  clock.advance(3_600_000);
  expect(await names.kindOf("inner.example")).toBe("private");
  clock.advance(3_600_000);
  expect(answers.length).toBe(1);
  expect(await names.kindOf("inner.example")).toBe("public");
});
