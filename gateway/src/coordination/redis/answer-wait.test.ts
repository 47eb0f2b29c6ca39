import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { AnswerWait, redisBehindMs } from "./answer-wait.ts";

const late = "it does not answer in time.";
const settled = (work: Promise<unknown>) => work.then(String, (thrown: Error) => thrown.message);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function asked(wait: AnswerWait) {
  const { promise, resolve } = Promise.withResolvers<string>();
  let told = "";
  void settled(wait.answer(promise)).then((answer) => (told = answer));
  return { resolve, told: () => told };
}

test("a counter that answers what was asked before is behind and not away; one that is silent for a second is away", async () => {
  const clock = new FakeClock();
  const wait = new AnswerWait(clock);
  const [first, second, third] = [asked(wait), asked(wait), asked(wait)];
  clock.advance(bounds.redisAnswerMs * 0.9);
  first.resolve("first");
  await turn();
  clock.advance(bounds.redisAnswerMs * 0.9);
  second.resolve("second");
  await turn();
  expect([first.told(), second.told(), third.told()]).toEqual(["first", "second", ""]);
  clock.advance(2 * bounds.redisAnswerMs);
  await turn();
  expect(third.told()).toBe(late);
});

test("nobody waits for ever for a counter that answers others", async () => {
  const clock = new FakeClock();
  const wait = new AnswerWait(clock);
  const patient = asked(wait);
  for (let ms = 0; ms <= redisBehindMs + bounds.redisAnswerMs; ms += 100) {
    asked(wait).resolve("quick");
    await turn();
    clock.advance(100);
  }
  await turn();
  expect(patient.told()).toBe(late);
});
