import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type StartedHouse, startHouse } from "../started-house.ts";
import {
  type CallerCase,
  callerCases,
  calm,
  dialectHouse,
  modelOn,
  type UpstreamCase,
  upstreamCases,
} from "./dialect-ground.ts";

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

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse(
    dialectHouse([
      modelOn([upstreamOf("messages"), upstreamOf("gemini"), upstreamOf("chat")], "any"),
      modelOn([upstreamOf("chat"), upstreamOf("messages")], "wrong"),
    ]),
  );
});
afterAll(() => house.stop());

describe("a body that cannot be understood", () => {
  test.each([
    ["messages", { messages: [{ role: "user", content: [{ type: "text", text: 5 }] }] }],
    ["responses", { input: [{ type: "message", role: "user", content: 5 }] }],
    ["generate", { contents: [{ role: "user", parts: [{ inlineData: { mimeType: 5 } }] }] }],
  ])(
    "by a caller of %s is its mistake: nothing is sent, no other upstream is tried, no breaker counts it",
    async (id, more) => {
      const caller = callerOf(id);
      const before = house.simulator.simulator.truth.list().data.length;
      for (let time = 0; time < 8; time++) {
        const response = await caller.call(house, "wrong", { more, stream: time % 2 === 0 });
        expect([response.status, response.headers.get("x-sluice-attempts")]).toEqual([400, "0"]);
      }
      expect(house.simulator.simulator.truth.list().data.length).toBe(before);
      const served = await caller.call(house, "wrong");
      expect([served.headers.get("x-sluice-provider"), served.headers.get("x-sluice-attempts")]).toEqual(["chat", "1"]);
      await calm(house);
      const [entry] = (await house.entries()).filter(({ errorCode }) => errorCode !== null);
      expect(entry).toMatchObject({
        outcome: "failed",
        errorCode: "invalid_request",
        usageSource: "none",
        costNanoUsd: 0,
      });
    },
  );
});

test("what one upstream's dialect cannot carry goes to the next that can, and counts against nobody", async () => {
  const caller = callerOf("chat");
  for (let time = 0; time < 8; time++) {
    const response = await caller.call(house, "any", { more: { n: 2 } });
    const served = [
      response.status,
      response.headers.get("x-sluice-provider"),
      response.headers.get("x-sluice-attempts"),
    ];
    expect(served).toEqual([200, "chat", "1"]);
    expect(((await response.json()) as { choices: unknown[] }).choices).toHaveLength(2);
  }
  const plain = await caller.call(house, "any");
  expect([plain.headers.get("x-sluice-provider"), plain.headers.get("x-sluice-attempts")]).toEqual(["messages", "1"]);
  await calm(house);
  const codes = (await house.entries()).filter(({ model }) => model === "any").map(({ errorCode }) => errorCode);
  expect(codes.filter((code) => code === "unsupported_by_model")).toHaveLength(16);
});
