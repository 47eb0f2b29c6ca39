import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import {
  type CallerCase,
  callerCases,
  dialectGateway,
  modelOn,
  settle,
  type UpstreamCase,
  upstreamCases,
} from "./dialect-fixture.ts";

const upstreamOf = (id: string): UpstreamCase => {
  const found = upstreamCases.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no upstream ${id}`);
  return found;
};
const callerOf = (id: string): CallerCase => {
  const found = callerCases.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no caller ${id}`);
  return found;
};

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(
    dialectGateway([
      modelOn([upstreamOf("messages"), upstreamOf("gemini"), upstreamOf("chat")], "any"),
      modelOn([upstreamOf("chat"), upstreamOf("messages")], "wrong"),
    ]),
  );
});
afterAll(() => gateway.stop());

describe("a body that cannot be understood", () => {
  test.each([
    ["messages", { messages: [{ role: "user", content: [{ type: "text", text: 5 }] }] }],
    ["responses", { input: [{ type: "message", role: "user", content: 5 }] }],
    ["generate", { contents: [{ role: "user", parts: [{ inlineData: { mimeType: 5 } }] }] }],
  ])(
    "from a caller of %s is rejected: nothing is sent, no other upstream is tried, no breaker counts it",
    async (id, more) => {
      const caller = callerOf(id);
      const before = gateway.simulator.simulator.truth.list().data.length;
      for (let time = 0; time < 8; time++) {
        const response = await caller.call(gateway, "wrong", { more, stream: time % 2 === 0 });
        expect([response.status, response.headers.get("x-sluice-attempts")]).toEqual([400, "0"]);
      }
      expect(gateway.simulator.simulator.truth.list().data.length).toBe(before);
      const served = await caller.call(gateway, "wrong");
      expect([served.headers.get("x-sluice-provider"), served.headers.get("x-sluice-attempts")]).toEqual(["chat", "1"]);
      await settle(gateway);
      const [entry] = (await gateway.entries()).filter(({ errorCode }) => errorCode !== null);
      expect(entry).toMatchObject({
        outcome: "failed",
        errorCode: "invalid_request",
        usageSource: "none",
        costNanoUsd: 0,
      });
    },
  );
});

test("a request that one upstream's API cannot carry goes to the next that can, and counts as no failure", async () => {
  const caller = callerOf("chat");
  for (let time = 0; time < 8; time++) {
    const response = await caller.call(gateway, "any", { more: { n: 2 } });
    const served = [
      response.status,
      response.headers.get("x-sluice-provider"),
      response.headers.get("x-sluice-attempts"),
    ];
    expect(served).toEqual([200, "chat", "1"]);
    expect(((await response.json()) as { choices: unknown[] }).choices).toHaveLength(2);
  }
  const plain = await caller.call(gateway, "any");
  expect([plain.headers.get("x-sluice-provider"), plain.headers.get("x-sluice-attempts")]).toEqual(["messages", "1"]);
  await settle(gateway);
  const codes = (await gateway.entries()).filter(({ model }) => model === "any").map(({ errorCode }) => errorCode);
  expect(codes.filter((code) => code === "unsupported_by_model")).toHaveLength(16);
});
