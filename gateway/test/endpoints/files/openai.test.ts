import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { errorOf, type StartedGateway } from "../../started-gateway.ts";
import { bearer, fileForm, startFilesGateway, storedBytes, untilStored, upload } from "./files-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway();
});
afterAll(() => gateway.stop());

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const remove = (id: string) => fetch(`${gateway.url}/v1/files/${id}`, { method: "DELETE", headers: bearer() });

test("stores a file, and returns its exact bytes, whole and in ranges", async () => {
  const bytes = new Uint8Array(3_000_000).map((_, at) => (at * 31 + (at >> 8)) & 0xff);
  const file = await upload(gateway, fileForm({ purpose: "user_data" }, bytes, "a.bin"));
  expect(file).toEqual({
    id: expect.stringMatching(/^file-[0-9a-z]{26}$/),
    object: "file",
    bytes: bytes.length,
    created_at: expect.any(Number),
    filename: "a.bin",
    purpose: "user_data",
    status: "processed",
  });
  expect(await (await gateway.get(`/v1/files/${file.id}`)).json()).toEqual(file);
  const content = await gateway.get(`/v1/files/${file.id}/content`);
  expect(content.headers.get("content-type")).toBe("application/octet-stream");
  expect(sha256(await content.bytes())).toBe(sha256(bytes));
  const part = await gateway.get(`/v1/files/${file.id}/content`, { ...bearer(), range: "bytes=100-109" });
  expect([part.status, await part.bytes()]).toEqual([206, bytes.slice(100, 110)]);
  expect(await (await remove(file.id)).json()).toEqual({ id: file.id, object: "file", deleted: true });
  for (const path of [`/v1/files/${file.id}`, `/v1/files/${file.id}/content`]) {
    expect(await errorOf(await gateway.get(path))).toMatchObject({ status: 404, code: "not_found" });
  }
  expect((await remove(file.id)).status).toBe(404);
  await untilStored(gateway, []);
});

test("lists files in pages and by purpose, in both orders", async () => {
  const ids: string[] = [];
  for (const purpose of ["batch", "user_data", "user_data"]) {
    ids.push((await upload(gateway, fileForm({ purpose }, `file ${ids.length}`))).id);
  }
  const list = async (query: string) =>
    (await (await gateway.get(`/v1/files${query}`)).json()) as { data: { id: string }[]; has_more: boolean };
  const idsOf = async (query: string) => (await list(query)).data.map(({ id }) => id);
  expect(await idsOf("")).toEqual(ids.toReversed());
  expect(await idsOf("?order=asc")).toEqual(ids);
  expect(await idsOf("?purpose=batch")).toEqual(ids.slice(0, 1));
  const first = await list("?limit=2");
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([ids.toReversed().slice(0, 2), true]);
  expect(await idsOf(`?limit=2&after=${first.data[1]?.id}`)).toEqual([ids[0] as string]);
  for (const query of ["?limit=0", "?limit=x", "?order=up", "?after=x"]) {
    expect((await gateway.get(`/v1/files${query}`)).status).toBe(400);
  }
  for (const id of ids) await remove(id);
  await untilStored(gateway, []);
});

test("stores equal bytes once, until the last file with them is deleted", async () => {
  const [one, two] = await Promise.all([
    upload(gateway, fileForm({ purpose: "vision" }, "the same")),
    upload(gateway, fileForm({ purpose: "user_data" }, "the same")),
  ]);
  expect(storedBytes(gateway)).toEqual([sha256("the same")]);
  await remove(one.id);
  expect(await (await gateway.get(`/v1/files/${two.id}/content`)).text()).toBe("the same");
  await remove(two.id);
  await untilStored(gateway, []);
});

test("keeps equal bytes whole while files with them are deleted and uploaded", async () => {
  const rounds = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const file = await upload(gateway, fileForm({ purpose: "user_data" }, "contended"));
      const text = await (await gateway.get(`/v1/files/${file.id}/content`)).text();
      if (index % 2 === 0) await remove(file.id);
      return { text, id: file.id };
    }),
  );
  expect(new Set(rounds.map(({ text }) => text))).toEqual(new Set(["contended"]));
  for (const [index, { id }] of rounds.entries()) if (index % 2 === 1) await remove(id);
  await untilStored(gateway, []);
});

test.each([
  ["quotes", 'say "hi".txt'],
  ["line breaks", "a\r\nx-evil: 1.txt"],
  ["other languages", "отчёт 好.txt"],
  ["folders", "../../etc/passwd"],
  ["folders of Windows", "..\\..\\boot.ini"],
  ["dots", ".."],
  ["nothing", " "],
  ["300 letters", "x".repeat(300)],
])("keeps a name with %s out of paths and headers", async (_, name) => {
  const file = await upload(gateway, fileForm({ purpose: "user_data" }, "text", name));
  const filename = String(file["filename"]);
  expect(filename).not.toMatch(/[\p{Cc}/\\]/u);
  expect(filename.length).toBeGreaterThan(0);
  expect(filename.length).toBeLessThanOrEqual(255);
  const content = await gateway.get(`/v1/files/${file.id}/content`);
  const disposition = content.headers.get("content-disposition") ?? "";
  expect(disposition).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[\w.~%-]*$/);
  expect(decodeURIComponent(disposition.split("UTF-8''")[1] ?? "")).toBe(filename);
  expect(content.headers.get("x-evil")).toBeNull();
  expect(await content.text()).toBe("text");
  await remove(file.id);
});

test("expires a file at the time that its caller chose, and files for batches after 30 days", async () => {
  const life = { "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" };
  const short = await upload(gateway, fileForm({ purpose: "user_data", ...life }, "short"));
  expect(Number(short["expires_at"]) - Number(short["created_at"])).toBe(3_600);
  const batch = await upload(gateway, fileForm({ purpose: "batch" }, "{}", "a.jsonl"));
  expect(Number(batch["expires_at"]) - Number(batch["created_at"])).toBe(2_592_000);
  for (const { id } of [short, batch]) await remove(id);
});
