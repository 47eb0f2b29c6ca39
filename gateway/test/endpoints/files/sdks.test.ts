import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { startFilesGateway, untilStored } from "./files-gateway.ts";

/** The file examples of the vendors' documents, run with their own SDKs. */
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway();
});
afterAll(() => gateway.stop());

/** The status of a refused call. The clients' promises do nothing until they are awaited. */
const statusOf = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await call;
  } catch (thrown) {
    return (thrown as { status?: unknown }).status;
  }
};

const text = "Zeile eins\nline two 好\n";
const openAi = () => new OpenAI({ apiKey: aliceKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const claude = () => new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });

test("OpenAI: uploads, lists, reads, downloads and deletes a file", async () => {
  const client = openAi();
  const file = await client.files.create({
    file: new File([text], "notes.txt"),
    purpose: "user_data",
    expires_after: { anchor: "created_at", seconds: 3_600 },
  });
  expect(file).toMatchObject({ filename: "notes.txt", bytes: Buffer.byteLength(text), status: "processed" });
  const listed: string[] = [];
  for await (const { id } of client.files.list({ limit: 1 })) listed.push(id);
  expect(listed).toEqual([file.id]);
  expect(await client.files.retrieve(file.id)).toEqual(file);
  expect((await client.files.waitForProcessing(file.id)).id).toBe(file.id);
  expect(await (await client.files.content(file.id)).text()).toBe(text);
  expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
  expect(await statusOf(client.files.retrieve(file.id))).toBe(404);
});

test("OpenAI: uploads a file in parts, in the order of the caller", async () => {
  const client = openAi();
  const pieces = ["first ", "second ", "third"];
  const bytes = pieces.join("").length;
  const params = { purpose: "user_data", filename: "big.txt", mime_type: "text/plain", bytes } as const;
  const upload = await client.uploads.create(params);
  expect(upload).toMatchObject({ object: "upload", status: "pending", bytes, filename: "big.txt" });
  const parts = await Promise.all(
    pieces.toReversed().map((piece) => client.uploads.parts.create(upload.id, { data: new File([piece], "blob") })),
  );
  const part_ids = parts.toReversed().map(({ id }) => id);
  const md5 = new Bun.CryptoHasher("md5").update(pieces.join("")).digest("hex");
  const completed = await client.uploads.complete(upload.id, { part_ids, md5 });
  expect(completed).toMatchObject({ status: "completed", file: { filename: "big.txt", bytes } });
  const id = completed.file?.id ?? "";
  expect(await (await client.files.content(id)).text()).toBe(pieces.join(""));
  await client.files.delete(id);
  const cancelled = await client.uploads.create(params);
  await client.uploads.parts.create(cancelled.id, { data: new File(["x"], "blob") });
  expect(await client.uploads.cancel(cancelled.id)).toMatchObject({ id: cancelled.id, status: "cancelled" });
  expect(await statusOf(client.uploads.cancel(cancelled.id))).toBe(409);
});

test("Anthropic: uploads, lists, reads, downloads and deletes a file", async () => {
  const client = claude();
  const files = [];
  for (const name of ["a.txt", "b.txt", "c.txt"]) {
    files.push(await client.files.upload({ file: new File([text + name], name, { type: "text/plain" }) }));
  }
  const [first, second] = files;
  expect(first).toMatchObject({ type: "file", filename: "a.txt", mime_type: "text/plain", downloadable: true });
  expect(first?.id).toMatch(/^file_[0-9a-z]{26}$/);
  const listed: string[] = [];
  for await (const { id } of client.files.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual(files.map(({ id }) => id).toReversed());
  const named = await client.files.list({ ids: [second?.id ?? ""] });
  expect(named.data.map(({ id }) => id)).toEqual([second?.id ?? ""]);
  expect((await client.beta.files.retrieveMetadata(first?.id ?? "")).filename).toBe("a.txt");
  expect(await (await client.files.download(first?.id ?? "")).text()).toBe(`${text}a.txt`);
  for (const { id } of files) expect(await client.files.delete(id)).toEqual({ id, type: "file_deleted" });
  expect(await statusOf(client.files.retrieveMetadata(first?.id ?? ""))).toBe(404);
  expect(await statusOf(client.files.delete("file_unknown"))).toBe(404);
});

test.each(["v1", "v1beta"])("Gemini (%s): uploads in pieces, lists, reads and deletes a file", async (apiVersion) => {
  const client = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url, apiVersion } });
  const bytes = new Uint8Array(9 * 1024 * 1024).map((_, at) => (at * 7 + (at >> 10)) & 0xff);
  const config = { mimeType: "application/pdf", displayName: "report.pdf" };
  const file = await client.files.upload({ file: new Blob([bytes]), config });
  expect(file).toMatchObject({
    ...{ displayName: "report.pdf", mimeType: "application/pdf", state: "ACTIVE" },
    ...{ sizeBytes: String(bytes.length), uri: `${gateway.url}/v1beta/${file.name}` },
  });
  expect(Date.parse(file.expirationTime ?? "") - Date.parse(file.createTime ?? "")).toBeGreaterThan(47 * 3_600_000);
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("base64");
  expect(file.sha256Hash).toBe(hash);
  const name = file.name ?? "";
  expect((await client.files.get({ name })).uri).toBe(file.uri as string);
  const listed: (string | undefined)[] = [];
  for await (const one of await client.files.list({ config: { pageSize: 1 } })) listed.push(one.name);
  expect(listed).toEqual([name]);
  const content = await fetch(`${gateway.url}/${apiVersion}/${name}:download?alt=media`, {
    headers: { "x-goog-api-key": aliceKey },
  });
  expect(new Bun.CryptoHasher("sha256").update(await content.arrayBuffer()).digest("base64")).toBe(hash);
  await client.files.delete({ name });
  expect(await statusOf(client.files.get({ name }))).toBe(404);
});

test("the three shapes name the same file", async () => {
  const file = await claude().files.upload({ file: new File([text], "a.txt") });
  const stem = file.id.slice("file_".length);
  expect((await openAi().files.retrieve(`file-${stem}`)).filename).toBe("a.txt");
  const google = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
  expect((await google.files.get({ name: `files/${stem}` })).displayName).toBe("a.txt");
  await openAi().files.delete(`file-${stem}`);
  await untilStored(gateway, []);
});
