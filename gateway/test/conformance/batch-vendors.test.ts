import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type BatchAccount, type BatchFrame, type OutboundDraft, providerKinds, rootOf } from "#providers/index.ts";
import { BatchVendor } from "../endpoints/batches/batch-vendor.ts";
import { kindOf, providerOf } from "../provider-fixture.ts";

/** A row of each kind's own API. */
const samples: Readonly<
  Record<string, { readonly endpoint: "chat" | "messages" | "generate"; readonly body: object }>
> = {
  openai: { endpoint: "chat", body: { model: "m", messages: [{ role: "user", content: "hi" }] } },
  anthropic: { endpoint: "messages", body: { model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] } },
  gemini: { endpoint: "generate", body: { contents: [{ parts: [{ text: "hi" }] }] } },
};

describe.each(providerKinds.flatMap(({ id, batches }) => (batches === undefined ? [] : [{ id, adapter: batches }])))(
  "the batches of $id",
  ({ id, adapter }) => {
    let vendor: BatchVendor;
    let account: BatchAccount;
    const sample = samples[id];
    if (sample === undefined) throw new Error(`no row for ${id}`);
    beforeAll(() => {
      vendor = new BatchVendor();
      const provider = providerOf(id, { baseUrl: id === "gemini" ? `${vendor.origin}/v1beta` : vendor.url });
      account = { provider, root: rootOf(provider) };
    });
    afterAll(() => vendor.stop());

    async function send({ method, url, headers, body }: OutboundDraft, more: string | null = null) {
      const draft = { ...account, method, url, headers: { ...headers }, body, upstreamModel: "m", stream: false };
      await kindOf(id).authorize(draft, { now: Date.now(), token: null });
      const answer = await fetch(draft.url, { method, headers: draft.headers, body: more ?? body });
      expect([url, answer.status]).toEqual([url, 200]);
      return { headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
    }

    const framed = (frame: BatchFrame, rows: readonly string[]) =>
      frame.head + rows.join(adapter.separator) + frame.tail;

    async function create(ourId: string, names: readonly string[]): Promise<string> {
      const rows = names.map((name) => adapter.row(name, "/v1/chat/completions", JSON.stringify(sample?.body)));
      let uploadId = "";
      if (adapter.upload !== undefined) {
        const body = framed(adapter.upload.frame, rows);
        const size = Buffer.byteLength(body);
        const begun = adapter.upload.draft(account, size);
        let answer = await send(begun, adapter.upload.send === undefined ? body : null);
        const next = adapter.upload.send?.(account, size, (name) => answer.headers.get(name)) ?? null;
        if (adapter.upload.send !== undefined) answer = await send(next as OutboundDraft, body);
        uploadId = adapter.upload.read(answer.body)?.id ?? "";
        expect(uploadId).not.toBe("");
      }
      const { endpoint } = sample as { readonly endpoint: "chat" };
      const draft = adapter.create(account, {
        ...{ ourId, endpoint, upstreamModel: "m", path: "/v1/chat/completions", uploadId, headers: {} },
      });
      const answer = await send(draft, adapter.frame === undefined ? null : framed(adapter.frame, rows));
      return adapter.readCreated(answer.body) ?? "";
    }

    const report = async (upstreamId: string) =>
      adapter.readReport(upstreamId, (await send(adapter.poll(account, upstreamId))).body);

    test("are created, listed, polled, and read line by line", async () => {
      vendor.endOf = (row) => (row === 1 ? "failed" : "answered");
      const upstreamId = await create("batch_ours", ["row-0", "row-1", "row-2"]);
      expect(upstreamId).not.toBe("");
      const listed = adapter
        .readList((await send(adapter.list(account))).body)
        .find((one) => one.upstreamId === upstreamId);
      expect(listed).toMatchObject({ total: 3 });
      expect(["batch_ours", null]).toContain(listed?.ourId ?? null);
      const createdAt = vendor.batches[0]?.createdAt ?? 0;
      expect(Math.floor((listed?.createdAt ?? 0) / 1_000)).toBe(Math.floor(createdAt / 1_000));
      expect(await report(upstreamId)).toMatchObject({ state: "open", outputs: [] });
      vendor.end();
      const { state, outputs } = await report(upstreamId);
      expect(state).toBe("ended");
      const texts = await Promise.all(outputs.map(async (path) => (await send(adapter.output(account, path))).body));
      const lines = texts.flatMap((text) => Buffer.from(text).toString().trim().split("\n"));
      const read = lines.map((line) => adapter.readLine(Buffer.from(line)));
      expect(read.map((line) => [line?.customId, line?.status, line?.end]).sort()).toEqual([
        ["row-0", 200, "answered"],
        ["row-1", 400, "answered"],
        ["row-2", 200, "answered"],
      ]);
      for (const line of read) expect(JSON.parse(line?.body ?? "")).toBeObject();
    });

    test("end when they are canceled", async () => {
      vendor.endOf = () => "left";
      const upstreamId = await create("batch_canceled", ["row-0"]);
      await send(adapter.cancel(account, upstreamId));
      expect((await report(upstreamId)).state).toBe("ended");
    });

    test.each(["", "{", "[]", "{}", '{"custom_id":7}', '{"key":"row-0"}', '{"custom_id":"row-0"}'])(
      "never take %p for an answer",
      (line) => {
        const read = adapter.readLine(Buffer.from(line));
        expect(read === null || read.status >= 400).toBe(true);
      },
    );

    test.each(["", "{}", '{"status":"new","metadata":{"state":"BATCH_STATE_NEW"},"processing_status":"new"}'])(
      "stay open while %p is reported",
      (body) => expect(adapter.readReport("batches/x", Buffer.from(body))).toMatchObject({ state: "open" }),
    );
  },
);
