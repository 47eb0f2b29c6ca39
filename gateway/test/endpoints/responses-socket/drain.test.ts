import { expect, test } from "bun:test";
import { openSocket, socketHouse } from "./socket-ground.ts";

test("at a shutdown what is under way finishes, silent sockets close at once, and nothing new is begun", async () => {
  const house = await socketHouse({ settings: { drain_timeout_ms: 60_000 } });
  try {
    const silent = await openSocket(house);
    const busy = await openSocket(house);
    const script = '[[sim {"tokens":20,"event_ms":20}]]';
    busy.send({ type: "response.create", model: "openai", store: false, input: `hi ${script}` });
    await busy.until("response.output_text.delta");
    const closing = house.house.close();
    expect((await silent.untilClosed()).code).toBe(1001);
    busy.send({ type: "response.create", model: "openai", store: false, input: "late" });
    await busy.until("response.completed");
    expect((await busy.untilClosed()).code).toBe(1001);
    expect(busy.frames.filter(({ type }) => type === "response.created").length).toBe(1);
    await closing;
  } finally {
    await house.stop();
  }
});

test("what does not finish in time is ended with an error", async () => {
  const house = await socketHouse({ settings: { drain_timeout_ms: 50 } });
  try {
    const busy = await openSocket(house);
    const script = '[[sim {"tokens":2000,"event_ms":20}]]';
    busy.send({ type: "response.create", model: "chat", store: false, input: `hi ${script}` });
    await busy.until("response.output_text.delta");
    await house.house.close();
    expect((await busy.until("response.failed"))["response"]).toMatchObject({ status: "failed" });
    await busy.untilClosed();
  } finally {
    await house.stop();
  }
});
