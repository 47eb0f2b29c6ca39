import { afterAll, beforeAll, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { startFilesGateway } from "../files/files-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway({
    guardrails: [
      { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input", "output"] },
      { name: "keys", check: { kind: "credentials" }, action: "block" },
    ],
  });
});
afterAll(() => gateway.stop());

const item = (content: string) => ({ type: "message", role: "user", content });

test("the vendor stores masked items, and their caller reads them as they were", async () => {
  const made = await gateway.post("/v1/conversations", { items: [item("Write to ada@example.com.")] });
  const { id } = (await made.json()) as { id: string };
  const account = { authorization: "Bearer sk-upstream-of-openai" };
  const url = `${gateway.simulator.url}/v1/conversations/${id}/items`;
  const stored = async () => (await fetch(url, { headers: account })).text();
  expect(await stored()).not.toContain("ada@example.com");
  expect(await stored()).toContain("Write to ‹EMAIL_");
  const added = await gateway.post(`/v1/conversations/${id}/items`, { items: [item("Or to bob@example.com.")] });
  expect(added.status).toBe(200);
  const read = await (await gateway.get(`/v1/conversations/${id}/items`)).text();
  expect(read).toContain("Write to ada@example.com.");
  expect(read).toContain("Or to bob@example.com.");
  expect(await stored()).not.toContain("bob@example.com");
});

test("refuses a blocked text in items and in searches of vector stores", async () => {
  const secret = `sk-proj-${"a1B2c3D4e5".repeat(5)}`;
  const refused = await gateway.post("/v1/conversations", { items: [item(`My key is ${secret}`)] });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(await refused.text()).not.toContain(secret);
  const made = await gateway.post("/v1/vector_stores", { name: "docs" });
  const { id } = (await made.json()) as { id: string };
  const search = await gateway.post(`/v1/vector_stores/${id}/search`, { query: `what is ${secret}` });
  expect(search.status).toBeGreaterThanOrEqual(400);
  expect((await gateway.post(`/v1/vector_stores/${id}/search`, { query: "what" })).status).toBe(200);
});
