import { afterAll, describe, expect, test } from "bun:test";
import {
  asKeyPath,
  type BatchDetail,
  batchResultPath,
  type ConsoleBatch,
  consoleRoutes,
  type RouteId,
  urlOf,
} from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { chatRow } from "../endpoints/batches/batch-client.ts";
import { RowUpstream } from "../endpoints/batches/row-upstream.ts";
import { emptyPostgres } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

describe("SQLite", () => suite(async () => null));
await onPostgres("PostgreSQL", () => suite(emptyPostgres));

const json = { "content-type": "application/json" };

function suite(open: () => Promise<(AsyncDisposable & { readonly url: string }) | null>): void {
  const rows = new RowUpstream();
  const started = start();
  afterAll(async () => {
    const { fixture, database } = await started;
    await fixture[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
    rows.stop();
  });

  async function start() {
    const database = await open();
    const fixture = await openMediaFixture({
      providers: [
        { id: "rows", kind: "openai-compatible", base_url: rows.url, api_key: "sk-up", allow_private_network: true },
      ],
      models: [{ name: "row-test", deployments: [{ provider: "rows" }], price: { input: 1, output: 10 } }],
      ...(database === null ? {} : { databaseUrl: database.url }),
    });
    return { fixture, database };
  }

  async function call(who: MediaUser | null, id: RouteId, params: Record<string, string>, query: object = {}) {
    const { fixture } = await started;
    const { method } = consoleRoutes[id];
    const path = urlOf(consoleRoutes, id, { params, query } as never);
    return fixture.as(who, path, method === "GET" ? {} : { method, headers: json, body: "{}" });
  }

  async function shown<Answer>(
    who: MediaUser,
    id: RouteId,
    params: Record<string, string>,
    query: object = {},
  ): Promise<Answer> {
    const answer = await call(who, id, params, query);
    if (answer.status !== 200) expect(`${id}: ${answer.status} ${await answer.text()}`).toBe(`${id}: 200`);
    return (await answer.json()) as Answer;
  }

  const list = (who: MediaUser, query: object = {}, workspace = "acme") =>
    shown<{ data: ConsoleBatch[]; next: string | null }>(who, "batches.list", { workspace }, query);
  const show = (who: MediaUser, batch: string) => shown<BatchDetail>(who, "batches.show", { workspace: "acme", batch });
  const ended = (batch: string) =>
    until(async () => {
      const seen = await show("admin", batch);
      return seen.ended_at === null ? null : seen;
    });

  /** Creates a batch of OpenAI's API, and resolves to its id. */
  async function openaiBatch(
    who: MediaUser,
    keyOf: (keys: MediaFixture["keys"]) => string,
    prompts: readonly string[],
    workspace = "acme",
  ): Promise<string> {
    const { fixture } = await started;
    const base = `${asKeyPath(workspace, keyOf(fixture.keys))}/v1`;
    const lines = prompts.map((content) =>
      JSON.stringify(chatRow(`row ${content}`, {}, { model: "row-test", messages: [{ role: "user", content }] })),
    );
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new File([lines.join("\n")], "rows.jsonl"));
    const file = await fixture.as(who, `${base}/files`, { method: "POST", body: form });
    const { id: input_file_id } = (await file.json()) as { id: string };
    const body = JSON.stringify({ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" });
    const answer = await fixture.as(who, `${base}/batches`, { method: "POST", headers: json, body });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { id: string }).id;
  }

  test("shows a batch with its rows, its cost and its failed rows", async () => {
    rows.statusOf = (prompt) => (prompt === "bad" ? 400 : 200);
    const id = await openaiBatch("member", ({ members }) => members, ["good", "bad", "fine"]);
    const seen = await ended(id);
    expect(seen).toMatchObject({
      ...{ id, api_id: id, api: "openai", endpoint: "chat", model: "row-test", provider: null, state: "completed" },
      workspace: { slug: "acme" },
      key: { name: "key of member" },
      rows: { total: 3, succeeded: 2, failed: 1, canceled: 0, expired: 0, open: 0 },
      ...{ reserved_usd: 0, problems: [], results: ["output", "errors"] },
    });
    expect(seen.cost_usd).toBeCloseTo(2 * 0.00006, 9);
    expect(seen.input_file).toStartWith("file-");
    expect(seen.results_until).toBeGreaterThan(seen.ended_at ?? 0);
    expect(seen.failed_rows).toMatchObject([{ row: 2, custom_id: "row bad", status: 400 }]);
    const { fixture } = await started;
    const entries = await fixture.entries();
    const failed = entries.find(({ requestId }) => requestId === seen.failed_rows[0]?.request_id);
    expect(failed).toMatchObject({ batchId: id, customId: "row bad" });
  });

  test("names the bad lines of a refused batch", async () => {
    const id = await openaiBatch("member", ({ members }) => members, ["same", "same"]);
    const seen = await ended(id);
    expect(seen).toMatchObject({ state: "failed", results: [], failed_rows: [], reserved_usd: 0 });
    expect(seen.problems).toMatchObject([{ line: 2 }]);
  });

  test("shows an open batch with the money held for it, and cancels it", async () => {
    const { fixture } = await started;
    const keyPath = urlOf(consoleRoutes, "keys.update", { params: { workspace: "acme", key: fixture.keys.members } });
    const budget = JSON.stringify({ budget: { usd: 10, period: "month" } });
    expect((await fixture.as("admin", keyPath, { method: "PATCH", headers: json, body: budget })).status).toBe(200);
    const gate = Promise.withResolvers<void>();
    await using _ = {
      [Symbol.asyncDispose]: async () => {
        gate.resolve();
        rows.gate = Promise.resolve();
      },
    };
    rows.gate = gate.promise;
    const id = await openaiBatch(
      "member",
      ({ members }) => members,
      Array.from({ length: 30 }, (_, n) => `p${n}`),
    );
    const open = await show("member", id);
    expect(open).toMatchObject({ state: "in_progress", rows: { total: 30, open: 30 }, ended_at: null, results: [] });
    expect(open.reserved_usd).toBeGreaterThan(0);
    expect((await list("member", { state: "open" })).data.map((batch) => batch.id)).toEqual([id]);
    expect(await codeOf(await call("viewer", "batches.cancel", { workspace: "acme", batch: id }))).toBe(
      "403 forbidden",
    );
    await until(() => rows.calls.has("p0"));
    await shown("member", "batches.cancel", { workspace: "acme", batch: id });
    gate.resolve();
    const seen = await ended(id);
    expect(seen).toMatchObject({ state: "canceled", reserved_usd: 0 });
    expect(seen.rows.canceled).toBeGreaterThan(0);
    expect(seen.rows.canceled + seen.rows.succeeded).toBe(30);
    expect(seen.cancel_at).not.toBeNull();
    expect((await fixture.audit()).map(({ action, object }) => `${action} ${object}`)).toContain(`cancel batch ${id}`);
  });

  test("filters batches, and returns them in pages, newest first", async () => {
    const { fixture } = await started;
    const other = await openaiBatch("stranger", ({ others }) => others, ["of others"], "other");
    const all = (await list("administrator", {}, "-")).data;
    expect(all[0]).toMatchObject({ id: other, workspace: { slug: "other" } });
    const paged: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: { data: ConsoleBatch[]; next: string | null } = await list(
        "administrator",
        { limit: 2, ...(cursor === null ? {} : { cursor }) },
        "-",
      );
      paged.push(...page.data.map(({ id }) => id));
      cursor = page.next;
      if (cursor === null) break;
    }
    expect(paged).toEqual(all.map(({ id }) => id));
    const ofKey = (await list("administrator", { key: fixture.keys.others }, "-")).data;
    expect(ofKey.map(({ id }) => id)).toEqual([other]);
    expect((await list("member", { state: "failed" })).data.map(({ state }) => state)).toEqual(["failed"]);
    expect((await list("member", { model: "no-such-model" })).data).toEqual([]);
    expect(await codeOf(await call("member", "batches.show", { workspace: "acme", batch: other }))).toBe(
      "404 not_found",
    );
    expect(await codeOf(await call("viewer", "batches.list", { workspace: "acme" }, { person: "user_x" }))).toBe(
      "403 forbidden",
    );
  });

  test("lets admins and the key's owner download results, and audits it", async () => {
    const { fixture } = await started;
    const id = await openaiBatch("member", ({ members }) => members, ["kept"]);
    await ended(id);
    const download = (who: MediaUser, part: "output" | "errors") => fixture.as(who, batchResultPath("acme", id, part));
    for (const who of ["member", "admin"] as const) {
      const answer = await download(who, "output");
      expect(answer.status, who).toBe(200);
      expect(await answer.text()).toContain("answer to kept");
    }
    expect((await show("viewer", id)).results).toEqual([]);
    expect(await codeOf(await download("viewer", "output"))).toBe("403 forbidden");
    expect(await codeOf(await download("stranger", "output"))).toBe("404 not_found");
    // Every row succeeded, so there is no file of errors.
    expect(await codeOf(await download("member", "errors"))).toBe("404 not_found");
    const downloads = (await fixture.audit()).filter(({ object }) => object === `batch ${id}`);
    expect(downloads.map(({ action }) => action)).toEqual(["download", "download"]);
  });

  test("shows Anthropic's batches, with all rows in one result", async () => {
    const { fixture } = await started;
    rows.statusOf = (prompt) => (prompt === "bad" ? 400 : 200);
    const requests = ["good", "bad"].map((content) => ({
      custom_id: content,
      params: { model: "row-test", max_tokens: 5, messages: [{ role: "user", content }] },
    }));
    const path = `${asKeyPath("acme", fixture.keys.members)}/v1/messages/batches`;
    const body = JSON.stringify({ requests });
    const made = await fixture.as("member", path, {
      method: "POST",
      headers: { ...json, "anthropic-version": "2023-06-01" },
      body,
    });
    const { id: apiId, error } = (await made.json()) as { id: string; error?: object };
    expect(error).toBeUndefined();
    const [listed] = (await list("member")).data;
    expect(listed).toMatchObject({ api_id: apiId, api: "anthropic", endpoint: "messages" });
    const seen = await ended(listed?.id ?? "");
    expect(seen).toMatchObject({ results: ["output"], rows: { succeeded: 1, failed: 1 } });
    expect(seen.failed_rows).toMatchObject([{ row: 2, custom_id: "bad", code: "invalid_request_error" }]);
  });
}
