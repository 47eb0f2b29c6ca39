import { expect, test } from "bun:test";
import { openSocket, socketGateway } from "./socket-gateway.ts";

test("finishes running responses at shutdown, closes idle sockets, and starts nothing new", async () => {
  const gateway = await socketGateway({ settings: { drain_timeout_ms: 60_000 } });
  try {
    const idle = await openSocket(gateway);
    const busy = await openSocket(gateway);
    const script = '[[sim {"tokens":20,"event_ms":20}]]';
    busy.send({ type: "response.create", model: "openai", store: false, input: `hi ${script}` });
    await busy.until("response.output_text.delta");
    const closing = gateway.gateway.close();
    expect((await idle.untilClosed()).code).toBe(1001);
    busy.send({ type: "response.create", model: "openai", store: false, input: "late" });
    await busy.until("response.completed");
    expect((await busy.untilClosed()).code).toBe(1001);
    expect(busy.frames.filter(({ type }) => type === "response.created").length).toBe(1);
    await closing;
  } finally {
    await gateway.stop();
  }
});

test("ends a response with an error when the drain timeout passes", async () => {
  const gateway = await socketGateway({ settings: { drain_timeout_ms: 50 } });
  try {
    const busy = await openSocket(gateway);
    const script = '[[sim {"tokens":2000,"event_ms":20}]]';
    busy.send({ type: "response.create", model: "chat", store: false, input: `hi ${script}` });
    await busy.until("response.output_text.delta");
    await gateway.gateway.close();
    expect((await busy.until("response.failed"))["response"]).toMatchObject({ status: "failed" });
    await busy.untilClosed();
  } finally {
    await gateway.stop();
  }
});
