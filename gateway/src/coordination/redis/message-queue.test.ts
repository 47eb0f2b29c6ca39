import { expect, test } from "bun:test";
import { MessageQueue, redisMessageMax } from "./message-queue.ts";

interface Sent {
  readonly epoch: string;
  readonly operations: readonly (readonly string[])[];
}

function queue(answer: (sent: Sent) => readonly unknown[]) {
  const sent: Sent[] = [];
  const messages = new MessageQueue(async (epoch, operations) => {
    const one: Sent = { epoch, operations: JSON.parse(operations) };
    sent.push(one);
    return answer(one);
  });
  return { sent, messages };
}

const echo = ({ operations }: Sent): readonly unknown[] => [JSON.stringify(operations.map((words) => [1, words[2]]))];

test("batches the operations of one turn in order, and returns each its own answer", async () => {
  const { sent, messages } = queue(echo);
  const count = redisMessageMax * 2 + 1;
  const ids = Array.from({ length: count }, (_, index) => `req_${index}`);
  const asked = ids.map((id) => messages.request("ep", "reserve", [id]));
  expect(sent).toBeEmpty();
  expect(await Promise.all(asked)).toEqual(ids.map((id) => [1, id]));
  expect(sent.map(({ operations }) => operations.length)).toEqual([redisMessageMax, redisMessageMax, 1]);
  expect(sent.flatMap(({ operations }) => operations)).toEqual(ids.map((id) => ["reserve", "", id]));
});

test("keeps operations of two epochs apart, and returns the end of an epoch to each of its operations", async () => {
  const { messages } = queue((one) => (one.epoch === "old" ? [-1] : echo(one)));
  const answers = await Promise.all([
    messages.request("old", "settle", ["a"]),
    messages.request("old", "settle", ["b"]),
    messages.request("new", "settle", ["c"]),
  ]);
  expect(answers).toEqual([[-1], [-1], [1, "c"]]);
});

test("rejects all operations of a failed message, and sends the next one", async () => {
  let isLost = true;
  const { messages } = queue((one) => {
    if (isLost) throw new Error("the connection was cut");
    return echo(one);
  });
  const lost = await Promise.allSettled([
    messages.request("ep", "settle", ["a"]),
    messages.request("ep", "settle", ["b"]),
  ]);
  expect(lost.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isLost = false;
  expect(await messages.request("ep", "settle", ["a"])).toEqual([1, "a"]);
});

test("flush sends waiting operations first", async () => {
  const { sent, messages } = queue(echo);
  const asked = messages.request("ep", "settle", ["a"]);
  messages.flush();
  expect(sent).toHaveLength(1);
  expect(await asked).toEqual([1, "a"]);
});
