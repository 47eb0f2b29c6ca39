import { expect, test } from "bun:test";
import type { Order } from "../../test/fixtures/threads/orders.ts";
import { OrderThread } from "./order-thread.ts";

const entry = new URL("../../test/fixtures/threads/orders.ts", import.meta.url);
const rounds = 12;

test("runs an order given right after stop, ignoring late replies of the stopped thread", async () => {
  const deaths: string[] = [];
  const thread = new OrderThread<Order, { name: string }>({
    entry,
    name: "orders",
    onDeath: (why) => deaths.push(why),
  });
  for (let round = 0; round < rounds; round++) {
    expect(await thread.run({ act: "answer", name: "before" })).toMatchObject({ reply: { name: "before" } });
    const stopped = thread.run({ act: "answer", name: "stopped" });
    thread.stop();
    expect(await stopped).toEqual({ failed: "the thread has ended" });
    expect(thread.free).toBe(true);
  }
  expect(deaths).toHaveLength(rounds);
  await thread.end();
});
