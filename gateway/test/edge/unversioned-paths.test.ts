import { afterAll, beforeAll, expect, test } from "bun:test";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test("serves OpenAI's paths without /v1, whole and streaming", async () => {
  for (const path of ["/chat/completions", "/responses"]) {
    const body = path === "/responses" ? { model: "gpt-test", input: "hello" } : hello;
    expect((await gateway.post(path, body)).status).toBe(200);
    const streamed = await gateway.post(path, { ...body, stream: true });
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    await streamed.text();
  }
  expect(await (await gateway.get("/models")).json()).toEqual(await (await gateway.get("/v1/models")).json());
  expect((await gateway.entries()).map(({ endpoint }) => endpoint)).toEqual(["responses", "responses", "chat", "chat"]);
});

test("does not serve other paths without /v1", async () => {
  for (const path of ["/messages", "/files", "/models/gpt-test", "/batches"]) {
    expect((await gateway.get(path)).status).toBe(404);
  }
});
