import { expect, test } from "bun:test";
import { MessageQueue, redisMessageMax } from "./message-queue.ts";

interface Sent {
  readonly epoch: string;
  readonly operations: readonly (readonly string[])[];
}

function queue(answer: (sent: Sent) => readonly unknown[]) {
  const sent: Sent[] = [];
  const messages = new MessageQueue(async (epoch, told) => {
    const one: Sent = { epoch, operations: JSON.parse(told) };
    sent.push(one);
    return answer(one);
  });
  return { sent, messages };
}

const echo = ({ operations }: Sent): readonly unknown[] => [JSON.stringify(operations.map((words) => [1, words[2]]))];

test("operations of one turn go in their order, so many in a message, and each has its own answer", async () => {
  const { sent, messages } = queue(echo);
  const count = redisMessageMax * 2 + 1;
  const ids = Array.from({ length: count }, (_, index) => `req_${index}`);
  const asked = ids.map((id) => messages.ask("ep", "reserve", [id]));
  expect(sent).toBeEmpty();
  expect(await Promise.all(asked)).toEqual(ids.map((id) => [1, id]));
  expect(sent.map(({ operations }) => operations.length)).toEqual([redisMessageMax, redisMessageMax, 1]);
  expect(sent.flatMap(({ operations }) => operations)).toEqual(ids.map((id) => ["reserve", "", id]));
});

test("operations of two epochs are not in one message, and an epoch that has ended is told to each of its own", async () => {
  const { messages } = queue((one) => (one.epoch === "old" ? [-1] : echo(one)));
  const answers = await Promise.all([
    messages.ask("old", "settle", ["a"]),
    messages.ask("old", "settle", ["b"]),
    messages.ask("new", "settle", ["c"]),
  ]);
  expect(answers).toEqual([[-1], [-1], [1, "c"]]);
});

test("a message that is lost is lost to all whose operations it held, and the next is sent", async () => {
  let isLost = true;
  const { messages } = queue((one) => {
    if (isLost) throw new Error("the connection was cut");
    return echo(one);
  });
  const lost = await Promise.allSettled([messages.ask("ep", "settle", ["a"]), messages.ask("ep", "settle", ["b"])]);
  expect(lost.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isLost = false;
  expect(await messages.ask("ep", "settle", ["a"])).toEqual([1, "a"]);
});

test("what waits is sent before what follows it at once", async () => {
  const { sent, messages } = queue(echo);
  const asked = messages.ask("ep", "settle", ["a"]);
  messages.flush();
  expect(sent).toHaveLength(1);
  expect(await asked).toEqual([1, "a"]);
});
