import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { secret } from "../../guardrails/guardrail-fixture.ts";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
import { bearer, startFilesGateway, strangerKey, untilStored } from "./files-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway({
    guardrails: [{ name: "keys", check: { kind: "credentials" }, action: "block" }],
  });
});
afterAll(() => gateway.stop());

describe("OpenAI's uploads in parts", () => {
  const begin = async (bytes: number) => {
    const body = { purpose: "user_data", filename: "big.txt", mime_type: "text/plain", bytes };
    return ((await (await gateway.post("/v1/uploads", body)).json()) as { id: string }).id;
  };
  const add = (upload: string, data: string, key = aliceKey) => {
    const body = new FormData();
    body.append("data", new Blob([data]), "blob");
    return fetch(`${gateway.url}/v1/uploads/${upload}/parts`, { method: "POST", headers: bearer(key), body });
  };
  const added = async (upload: string, data: string) => ((await (await add(upload, data)).json()) as { id: string }).id;
  const complete = async (upload: string, part_ids: readonly string[], more: object = {}) =>
    errorOf(await gateway.post(`/v1/uploads/${upload}/complete`, { part_ids, ...more }));
  const cancel = (upload: string) => gateway.post(`/v1/uploads/${upload}/cancel`, {});
  afterEach(() => untilStored(gateway, []));

  test.each([
    ["no size", { bytes: undefined }, "bytes"],
    ["no name", { filename: "" }, "filename"],
    ["no type", { mime_type: undefined }, "mime_type"],
    ["an unknown purpose", { purpose: "fun" }, "purpose"],
    ["a size of zero", { bytes: 0 }, "bytes"],
  ])("returns 400 for %s", async (_, more, param) => {
    const body = { purpose: "user_data", filename: "a", mime_type: "text/plain", bytes: 3, ...more };
    expect(await errorOf(await gateway.post("/v1/uploads", body))).toMatchObject({ status: 400, param });
  });

  test("returns 413 for a size above the limit", async () => {
    const body = { purpose: "user_data", filename: "a", mime_type: "text/plain", bytes: 600_000_000 };
    expect(await errorOf(await gateway.post("/v1/uploads", body))).toMatchObject({ status: 413, param: "bytes" });
  });

  test("refuses parts that are repeated, missing, of another upload, or of another size", async () => {
    const [upload, other] = [await begin(6), await begin(3)];
    const [a, b, foreign] = [await added(upload, "abc"), await added(upload, "def"), await added(other, "xyz")];
    for (const ids of [[a, a], [a], [a, b, b], [a, foreign], [], ["part_x"], [`part_${"0".repeat(26)}`]]) {
      expect(await complete(upload, ids)).toMatchObject({ status: 400, param: "part_ids" });
    }
    expect(await errorOf(await add(upload, "more"))).toMatchObject({ status: 400, param: "data" });
    expect(await complete(upload, [a, b], { md5: "0".repeat(32) })).toMatchObject({ status: 400, param: "md5" });
    expect(await complete(upload, [a, b], { md5: "x" })).toMatchObject({ status: 400, param: "md5" });
    await cancel(upload);
    await cancel(other);
  });

  test("ends once: nothing can be added, completed or canceled afterward", async () => {
    const upload = await begin(3);
    const part = await added(upload, "abc");
    const attempts = [1, 2, 3].map(() => gateway.post(`/v1/uploads/${upload}/complete`, { part_ids: [part] }));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const files = (await (await gateway.get("/v1/files")).json()) as { data: { id: string }[] };
    expect(files.data).toHaveLength(1);
    expect(await errorOf(await add(upload, "x"))).toMatchObject({ status: 409, code: "conflict" });
    expect(await errorOf(await cancel(upload))).toMatchObject({ status: 409, code: "conflict" });
    await fetch(`${gateway.url}/v1/files/${files.data[0]?.id}`, { method: "DELETE", headers: bearer() });
  });

  test("answers for another workspace's upload like for a missing one", async () => {
    const upload = await begin(3);
    const theirs = await errorOf(await add(upload, "abc", strangerKey));
    expect(theirs).toMatchObject({ status: 404, code: "not_found" });
    expect(theirs.message).toBe((await errorOf(await add("upload_x", "abc", strangerKey))).message);
    await cancel(upload);
  });

  test("checks the whole with the workspace's guardrails, also where parts meet", async () => {
    const upload = await begin(secret.length);
    const parts = [await added(upload, secret.slice(0, 9)), await added(upload, secret.slice(9))];
    expect(await complete(upload, parts)).toMatchObject({ status: 400, code: "guardrail_blocked" });
    await cancel(upload);
  });
});

describe("Gemini's resumable uploads", () => {
  const google = { "x-goog-api-key": aliceKey };
  const start = async (more: Record<string, string> = {}, body: object = { file: { displayName: "a.txt" } }) =>
    fetch(`${gateway.url}/upload/v1beta/files`, {
      method: "POST",
      headers: {
        ...{ ...google, "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" },
        ...{ "x-goog-upload-header-content-type": "text/plain", "content-type": "application/json", ...more },
      },
      body: JSON.stringify(body),
    });
  const begun = async (more?: Record<string, string>) =>
    (await start(more)).headers.get("x-goog-upload-url") ?? "no address";
  const send = (url: string, command: string, offset: number, body: string | null = null) =>
    fetch(url, {
      method: "POST",
      headers: { ...google, "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) },
      body,
    });
  const googleError = async (response: Response) =>
    [response.status, ((await response.json()) as { error: { message: string } }).error.message] as const;
  afterEach(() => untilStored(gateway, []));

  test("the address of an upload is the gateway's own", async () => {
    const answer = await start({ "x-goog-upload-header-content-length": "3" });
    expect(answer.headers.get("x-goog-upload-status")).toBe("active");
    const url = answer.headers.get("x-goog-upload-url") ?? "";
    expect(url).toStartWith(`${gateway.url}/upload/v1beta/files?upload_id=upload_`);
    expect((await send(url, "cancel", 0)).headers.get("x-goog-upload-status")).toBe("cancelled");
  });

  test("takes pieces without a key at the address of their upload, as Google's Python SDK sends them", async () => {
    const url = new URL(await begun());
    const piece = (at: URL | string) =>
      fetch(at, {
        method: "POST",
        headers: { "x-goog-upload-command": "upload", "x-goog-upload-offset": "0" },
        body: "abc",
      });
    const other = new URL(await begun());
    const changed = (name: string, value: string | null) => {
      const at = new URL(url);
      if (value === null) at.searchParams.delete(name);
      else at.searchParams.set(name, value);
      return at;
    };
    const token = url.searchParams.get("upload_token") ?? "";
    const wrong = [
      changed("upload_token", null),
      changed("upload_token", ""),
      changed("upload_token", `${token}x`),
      changed("upload_token", other.searchParams.get("upload_token")),
      changed("upload_id", other.searchParams.get("upload_id")),
    ];
    for (const at of wrong) expect((await piece(at)).status).toBe(401);
    expect((await piece(url)).headers.get("x-goog-upload-size-received")).toBe("3");
    expect((await piece(url)).status).toBe(400);
    // A token that began uploads would never end.
    const again = await fetch(url, {
      method: "POST",
      headers: {
        "x-goog-upload-command": "start",
        "x-goog-upload-protocol": "resumable",
        "content-type": "application/json",
      },
      body: "{}",
    });
    expect([again.status, again.headers.get("x-goog-upload-url")]).toEqual([400, null]);
    for (const at of [url, other]) expect((await send(String(at), "cancel", 3)).status).toBe(200);
  });

  test("refuses a piece at a wrong offset, and continues where a query points to", async () => {
    const url = await begun();
    expect((await send(url, "upload", 0, "abc")).headers.get("x-goog-upload-size-received")).toBe("3");
    for (const offset of [0, 2, 4, -1]) {
      expect(await googleError(await send(url, "upload", offset, "x"))).toEqual([
        400,
        expect.stringContaining("3 bytes"),
      ]);
    }
    const query = await send(url, "query", 0);
    expect(query.headers.get("x-goog-upload-size-received")).toBe("3");
    const done = await send(url, "upload, finalize", 3, "def");
    expect(done.headers.get("x-goog-upload-status")).toBe("final");
    const { file } = (await done.json()) as { file: { name: string; sizeBytes: string } };
    expect(file.sizeBytes).toBe("6");
    const content = await fetch(`${gateway.url}/v1beta/${file.name}:download?alt=media`, { headers: google });
    expect(await content.text()).toBe("abcdef");
    expect((await send(url, "upload", 6, "x")).status).toBe(409);
    await fetch(`${gateway.url}/v1beta/${file.name}`, { method: "DELETE", headers: google });
  });

  test("refuses an end before the declared size, and more than it", async () => {
    const url = await begun({ "x-goog-upload-header-content-length": "4" });
    expect((await send(url, "upload", 0, "abcde")).status).toBe(400);
    expect((await send(url, "upload, finalize", 0, "abc")).status).toBe(400);
    expect((await send(url, "upload, finalize", 3, "d")).headers.get("x-goog-upload-status")).toBe("final");
    const files = (await (await fetch(`${gateway.url}/v1beta/files`, { headers: google })).json()) as {
      files: { name: string }[];
    };
    for (const { name } of files.files) {
      await fetch(`${gateway.url}/v1beta/${name}`, { method: "DELETE", headers: google });
    }
  });

  test.each([
    ["an empty file", "finalize"],
    ["an unknown command", "dance"],
    ["no command", ""],
  ])("returns 400 in Gemini's shape for %s", async (_, command) => {
    const url = await begun();
    expect(await googleError(await send(url, command, 0))).toEqual([400, expect.any(String)]);
    await send(url, "cancel", 0);
  });

  test("returns 400 for other protocols, names that the caller chooses, and sizes that are none", async () => {
    const answers = [
      await start({ "x-goog-upload-protocol": "raw" }),
      await start({}, { file: { name: "files/mine" } }),
      await start({ "x-goog-upload-header-content-length": "x" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
  });

  test("answers for another workspace's upload like for a missing one", async () => {
    const url = await begun();
    const theirs = await fetch(url, {
      method: "POST",
      headers: { "x-goog-api-key": strangerKey, "x-goog-upload-command": "query" },
    });
    const missing = await fetch(`${gateway.url}/upload/v1beta/files?upload_id=x`, {
      method: "POST",
      headers: { "x-goog-api-key": strangerKey, "x-goog-upload-command": "query" },
    });
    expect(await googleError(theirs)).toEqual(await googleError(missing));
    expect(theirs.status).toBe(404);
    await send(url, "cancel", 0);
  });
});
