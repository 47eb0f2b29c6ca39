import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryTries } from "#coordination/index.ts";
import { createSetup } from "#identity/index.ts";
import type { Observer, StaticFile } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { createAdmin } from "./index.ts";

const token = "a".repeat(43);
const origin = "http://gateway.test:8787";
const good = { token, email: "ada@example.com", password: "correct horse battery" };

function file(text: string, type: string, immutable = false): StaticFile {
  return {
    bytes: new TextEncoder().encode(text),
    gzip: Bun.gzipSync(text),
    brotli: null,
    type,
    immutable,
    etag: `W/"${Bun.hash(text).toString(36)}"`,
  };
}

const docs = (name: string) => readFileSync(join(import.meta.dir, "docs", name), "utf8");

const built = new Map([
  [
    "console/index.html",
    file(
      '<!doctype html><title>Sluice</title><meta name="style-nonce" content="{style-nonce}">',
      "text/html; charset=utf-8",
    ),
  ],
  ["console/assets/index-abcd1234.js", file("console.log(1)", "text/javascript; charset=utf-8", true)],
  ["docs/index.html", file(docs("index.html"), "text/html; charset=utf-8")],
  ["docs/start.js", file(docs("start.js"), "text/javascript; charset=utf-8")],
  ["docs/swagger-ui.css", file(".swagger-ui{}", "text/css; charset=utf-8")],
]);

const openApi = file('{"openapi":"3.1.0"}', "application/json; charset=utf-8");

async function openAdmin(files = built) {
  const clock = new FakeClock();
  const logs: string[] = [];
  const observer: Observer = {
    log: (_level, message) => logs.push(message),
    attemptEnd: () => undefined,
    requestEnd: () => undefined,
    breakerChange: () => undefined,
    configReload: () => undefined,
  };
  let administrators = 0;
  let nonces = 0;
  const setup = await createSetup({
    signIn: { prepareUser: async ({ email, name }) => ({ email, name, passwordHash: "hash" }) },
    people: {
      administratorExists: async () => administrators > 0,
      makeFirstAdministrator: async () => ++administrators === 1,
    },
    randomToken: () => token,
  });
  const admin = createAdmin({
    files: { find: async (path) => files.get(path) ?? null },
    openApi: async () => openApi,
    setup,
    openTries: createMemoryTries(clock),
    clock,
    observer,
    version: "1.2.3",
    publicUrl: "https://ai.example.com",
    randomToken: () => `nonce-${++nonces}`,
    demo: () => true,
    console: null,
  });
  const call = async (path: string, init: RequestInit = {}, ip = "192.0.2.1") =>
    admin.fetch(new Request(origin + path, init), { ip });
  const setUp = (body: unknown, headers: Record<string, string> = {}, ip = "192.0.2.1") =>
    call(
      "/api/setup",
      {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { "content-type": "application/json", host: "gateway.test:8787", ...headers },
      },
      ip,
    );
  return { call, setUp, clock, logs };
}

async function codeOf(response: Response): Promise<string> {
  const body: unknown = await response.json();
  const error = body !== null && typeof body === "object" && "error" in body ? body.error : null;
  const code = error !== null && typeof error === "object" && "code" in error ? error.code : null;
  return `${response.status} ${String(code)}`;
}

test("sends strict browser headers with every answer of the control plane", async () => {
  const { call } = await openAdmin();
  for (const path of ["/console/", "/docs", "/docs/start.js", "/openapi.json", "/api/status", "/api/nothing"]) {
    const response = await call(path);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy, path).toContain("frame-ancestors 'none'");
    expect(policy, path).toMatch(/default-src '(self|none)'/);
    expect(policy, path).not.toContain("unsafe");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("caches hashed console files forever, and answers 304 for other unchanged files", async () => {
  const { call } = await openAdmin();
  const script = await call("/console/assets/index-abcd1234.js");
  expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const style = "/docs/swagger-ui.css";
  const plain = await call(style);
  expect(plain.headers.get("cache-control")).toBe("no-cache");
  const etag = plain.headers.get("etag") ?? "";
  const again = await call(style, { headers: { "if-none-match": `"other", ${etag}` } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect((await call(style, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
});

test("gives each answer of the console's page its own style nonce, no caching, and Trusted Types", async () => {
  const { call } = await openAdmin();
  const seen = new Set<string>();
  for (const path of ["/console/", "/console/index.html", "/console/keys"]) {
    const page = await call(path);
    const policy = page.headers.get("content-security-policy") ?? "";
    const nonce = /style-src 'self' 'nonce-([\w-]+)';/.exec(policy)?.[1] ?? "";
    expect(await page.text(), path).toContain(`<meta name="style-nonce" content="${nonce}">`);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types default;");
    seen.add(nonce);
  }
  expect(seen.size).toBe(3);
});

test("sends files compressed to clients that accept it, else uncompressed", async () => {
  const { call } = await openAdmin();
  const path = "/console/assets/index-abcd1234.js";
  const small = await call(path, { headers: { "accept-encoding": "br, gzip;q=0.8" } });
  expect(small.headers.get("content-encoding")).toBe("gzip");
  expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await small.arrayBuffer())))).toBe("console.log(1)");
  const plain = await call(path, { headers: { "accept-encoding": "br, gzip;q=0" } });
  expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, "console.log(1)"]);
});

test("answers every page path of the console with its page, but not a missing file", async () => {
  const { call } = await openAdmin();
  expect(await (await call("/console/usage")).text()).toContain("<title>Sluice</title>");
  expect(await (await call("/console/models/gpt-4.1")).text()).toContain("<title>Sluice</title>");
  expect(await codeOf(await call("/console/assets/gone.js"))).toBe("404 not_found");
  expect((await call("/console")).headers.get("location")).toBe("/console/");
  expect((await call("/console/../api/status")).headers.get("content-type")).toContain("application/json");
  const head = await call("/console/", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("explains how to build the console if its files are missing, and serves the rest", async () => {
  const { call } = await openAdmin(new Map());
  const page = await call("/console/");
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("npm run build")]);
  expect((await call("/openapi.json")).status).toBe(200);
});

test("loads nothing from other sites in the API reference", async () => {
  const { call } = await openAdmin();
  const page = await (await call("/docs")).text();
  const script = await (await call("/docs/start.js")).text();
  expect(`${page}${script}`).not.toMatch(/https?:\/\//);
  expect(page).not.toMatch(/<script>|<style>|style="/);
  expect((await call("/docs/swagger-ui.css")).status).toBe(200);
  expect(await codeOf(await call("/docs/package.json"))).toBe("404 not_found");
});

test("creates the first administrator once, and reports it in the status", async () => {
  const { call, setUp, logs } = await openAdmin();
  const status = async () => (await call("/api/status")).json();
  expect(await status()).toEqual({ setup_needed: true, demo: true });
  const made = await setUp(good, { origin, "sec-fetch-site": "same-origin" });
  expect([made.status, await made.json()]).toEqual([201, { email: "ada@example.com" }]);
  expect(await status()).toEqual({ setup_needed: false, demo: true });
  expect(await codeOf(await setUp(good))).toBe("403 forbidden");
  expect(logs).toEqual(["the first administrator was created"]);
});

test("refuses setup from pages of other sites, and accepts the public address behind a proxy", async () => {
  const { setUp } = await openAdmin();
  expect(await codeOf(await setUp(good, { "sec-fetch-site": "cross-site" }))).toBe("403 forbidden");
  expect(await codeOf(await setUp(good, { "sec-fetch-site": "same-site" }))).toBe("403 forbidden");
  expect(await codeOf(await setUp(good, { origin: "https://evil.example" }))).toBe("403 forbidden");
  expect(await codeOf(await setUp(good, { origin: "null" }))).toBe("403 forbidden");
  expect((await setUp(good, { origin: "https://ai.example.com" })).status).toBe(201);
});

test("accepts only JSON of a limited size for setup, and names an invalid field", async () => {
  const { setUp, call } = await openAdmin();
  const form = { "content-type": "text/plain" };
  expect(await codeOf(await setUp(good, form, "192.0.2.2"))).toBe("415 unsupported_media_type");
  expect(await codeOf(await setUp("{", {}, "192.0.2.3"))).toBe("400 invalid_json");
  expect(await codeOf(await setUp(" ".repeat(70_000), {}, "192.0.2.4"))).toBe("413 request_too_large");
  const short = await setUp({ ...good, password: "short" }, {}, "192.0.2.5");
  expect(await short.json()).toMatchObject({ error: { code: "invalid_request", param: "password" } });
  const get = await call("/api/setup");
  expect([await codeOf(get), get.headers.get("allow")]).toEqual(["405 method_not_allowed", "POST"]);
});

test("makes an address wait after ten attempts in fifteen minutes, but not others", async () => {
  const { setUp, clock } = await openAdmin();
  const wrong = { ...good, token: "b".repeat(43) };
  for (let index = 0; index < 10; index++) expect(await codeOf(await setUp(wrong))).toBe("403 forbidden");
  const refused = await setUp(good);
  expect(refused.headers.get("retry-after")).toBe("900");
  expect(await codeOf(refused)).toBe("429 rate_limit_exceeded");
  expect(await codeOf(await setUp(wrong, {}, "192.0.2.9"))).toBe("403 forbidden");
  clock.advance(15 * 60_000);
  expect((await setUp(good)).status).toBe(201);
});
