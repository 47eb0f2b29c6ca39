import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AttentionItem } from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { type AgentFixture, startAgentFixture } from "../agents/agent-fixture.ts";
import { errorOf, hello } from "../started-gateway.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  const price = { input: 0, output: 1_000 };
  fixture = await startAgentFixture({ models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price }] });
});
afterAll(() => fixture.stop());

test("a budget with a deleted fallback model refuses by name, needs attention, and can be disabled", async () => {
  const { ada, gateway } = fixture;
  const model = { name: "small", deployments: [{ provider: "main" }], price: { input: 0, output: 1 } };
  expect((await ada.call("POST", "/api/models", model)).status).toBe(201);
  const budget = { name: "costly", usd: 0.004, period: "month", over: { fallback: "small" } };
  const { body: created } = await ada.call("POST", "/api/workspaces/-/budgets", budget);
  const call = () => gateway.chat({ ...hello, max_tokens: 5 }, { script: { tokens: 5 } });
  await until(async () => (await call()).headers.get("x-sluice-warnings")?.includes("served by small") === true);
  expect((await ada.call("DELETE", "/api/models/small")).status).toBe(200);
  const refused = await until(async () => {
    const answer = await call();
    return answer.status === 402 ? await errorOf(answer) : null;
  });
  expect(refused.code).toBe("budget_exceeded");
  expect(refused.message).toContain("on policy costly");
  expect(refused.message).toEndWith('Its fallback model "small" does not exist.');
  const { body: attention } = await ada.call("GET", "/api/workspaces/-/attention");
  expect(attention.data.map(({ finding }: AttentionItem) => finding)).toContainEqual({
    code: "budget_fallback_missing",
    params: { name: "costly", model: "small" },
  });
  const path = `/api/workspaces/-/budgets/${created.id}`;
  expect((await ada.call("PATCH", path, { enabled: false })).body).toMatchObject({ enabled: false });
  await until(async () => (await call()).status === 200);
});
