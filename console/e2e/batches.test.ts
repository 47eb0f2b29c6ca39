import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { violationsInBothThemes } from "./accessibility.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";

/** Answers rows of batches: "bad" with 400, "slow" only once `released`. */
const released = Promise.withResolvers<void>();
const upstream = Bun.serve({
  idleTimeout: 0,
  port: 0,
  async fetch(request) {
    const { messages } = (await request.json()) as { messages: readonly { content: string }[] };
    const prompt = messages[0]?.content ?? "";
    if (prompt === "bad")
      return Response.json({ error: { message: "no", type: "invalid_request_error" } }, { status: 400 });
    if (prompt === "slow") await released.promise;
    return Response.json({
      ...{ id: "c1", object: "chat.completion", created: 1, model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  },
});

const config = `
providers:
  - { id: rows, kind: openai-compatible, base_url: "http://127.0.0.1:${upstream.port}/v1", api_key: sk-up, allow_private_network: true }
models:
  - { name: gpt-test, deployments: [{ provider: rows }], price: { input: 1, output: 10 } }
workspaces:
  - { slug: acme, name: Acme, groups: [{ name: default }] }
`;

describe.skipIf(noBrowser !== null)("batches and files in the console", () => {
  let opened: OpenedConsole;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    opened = await openConsole({ config });
    const body = { name: "nightly", budget: { usd: 10, period: "month" as const } };
    const { key } = await opened.ada.call("keys.create", { params: { workspace: "acme" }, body });
    base = `/api/workspaces/acme/keys/${key.id}/call/v1`;
    page = await opened.page();
  });

  afterAll(async () => {
    released.resolve();
    await opened?.stop();
    await upstream.stop(true);
  });

  async function createBatch(prompts: readonly string[]): Promise<void> {
    const lines = prompts.map((content, n) =>
      JSON.stringify({
        custom_id: `${content}-${n}`,
        ...{ method: "POST", url: "/v1/chat/completions" },
        body: { model: "gpt-test", max_tokens: 5, messages: [{ role: "user", content }] },
      }),
    );
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new File([lines.join("\n")], "rows.jsonl"));
    const file = await opened.ada.send(`${base}/files`, { method: "POST", body: form });
    const { id: input_file_id } = (await file.json()) as { id: string };
    const made = await opened.ada.send(`${base}/batches`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" }),
    });
    expect(made.status).toBe(200);
  }

  test("teaches the call that creates a batch, and the call that uploads a file", async () => {
    await page.goto("/console/batches?workspace=acme");
    await page.getByText("No batches yet").waitFor();
    await page.getByText("/v1/messages/batches").waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("link", { name: "Files" }).first().click();
    await page.getByText("No files yet").waitFor();
    await page.getByText("purpose=user_data").waitFor();
  });

  test("shows a batch while it runs, and cancels it", async () => {
    await createBatch(["good", "bad", "fine", ...Array.from({ length: 40 }, () => "slow")]);
    await page.goto("/console/batches?workspace=acme");
    await page.getByText("3 of 43").waitFor();
    await page.getByRole("table", { name: "Batches" }).getByRole("link").first().click();
    await page.getByRole("table", { name: "Failed rows" }).getByText("bad-1").waitFor();
    await page.getByText("Reserved").waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel batch" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel batch" }).click();
    await closeNotice(page, "Batch is being canceled.");
    released.resolve();
    // The page refreshes itself until the batch has ended.
    await page.getByRole("link", { name: "Download results" }).waitFor();
    await page.getByRole("link", { name: "Download errors" }).waitFor();
    const [batch] = (await opened.ada.call("batches.list", { params: { workspace: "acme" } })).data;
    expect(batch).toMatchObject({ state: "canceled", rows: { total: 43, failed: 1, open: 0 } });
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download results" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe(`${batch?.id}_output.jsonl`);
  });

  test("a failed row leads to its request, and the request to its batch", async () => {
    await page.getByRole("table", { name: "Failed rows" }).getByRole("link", { name: "bad-1" }).click();
    const link = page.getByRole("link", { name: /^batch_/ });
    await link.click();
    await page.getByRole("table", { name: "Failed rows" }).waitFor();
    await page.getByRole("region", { name: "Rows" }).getByRole("link", { name: "View requests" }).click();
    await page.waitForURL("**/requests?*search=req_*");
    await page.getByRole("table", { name: "Requests" }).getByText("gpt-test").first().waitFor();
  });

  test("lists files with their sizes and the quota, downloads one and deletes it", async () => {
    await page.goto("/console/files?workspace=acme");
    const table = page.getByRole("table", { name: "Files" });
    await table.getByText("rows.jsonl").waitFor();
    await page.getByText(/3 files, .* · The workspace uses .* of 50.0 GB/).waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download rows.jsonl" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("rows.jsonl");
    expect(readFileSync(await saved.path(), "utf8")).toContain('"custom_id":"bad-1"');
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete rows.jsonl" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete file" }).click();
    await closeNotice(page, "File deleted.");
    await page.getByText("2 files").waitFor();
    expect(await table.getByText("rows.jsonl").count()).toBe(0);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});
