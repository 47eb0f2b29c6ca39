import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { ResponseTimeout, redisBehindMs } from "./response-timeout.ts";

const late = "it does not respond in time.";
const settled = (work: Promise<unknown>) => work.then(String, (thrown: Error) => thrown.message);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function send(wait: ResponseTimeout) {
  const { promise, resolve } = Promise.withResolvers<string>();
  let result = "";
  void settled(wait.response(promise)).then((answer) => (result = answer));
  return { resolve, result: () => result };
}

test("waits while earlier requests are answered, and times out after a second of silence", async () => {
  const clock = new FakeClock();
  const wait = new ResponseTimeout(clock);
  const [first, second, third] = [send(wait), send(wait), send(wait)];
  clock.advance(bounds.redisAnswerMs * 0.9);
  first.resolve("first");
  await turn();
  clock.advance(bounds.redisAnswerMs * 0.9);
  second.resolve("second");
  await turn();
  expect([first.result(), second.result(), third.result()]).toEqual(["first", "second", ""]);
  clock.advance(2 * bounds.redisAnswerMs);
  await turn();
  expect(third.result()).toBe(late);
});

test("times out in the end even if other requests are answered", async () => {
  const clock = new FakeClock();
  const wait = new ResponseTimeout(clock);
  const patient = send(wait);
  for (let ms = 0; ms <= redisBehindMs + bounds.redisAnswerMs; ms += 100) {
    send(wait).resolve("quick");
    await turn();
    clock.advance(100);
  }
  await turn();
  expect(patient.result()).toBe(late);
});
