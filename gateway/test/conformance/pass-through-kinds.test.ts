import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { ProviderConfig } from "@sluice/contract";
import { providerKinds } from "#providers/index.ts";
import { startVendor, type Vendor } from "../endpoints/providers/vendor.ts";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";

const secret = "upstream-secret-0123456789";
const accessKeyId = "AKIAEXAMPLE";
const secretAccessKey = "aws-secret-0123456789";

const settings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  bedrock: { region: "us-east-1", access_key_id: accessKeyId, secret_access_key: secretAccessKey },
  vertex: { project: "proj", location: "us-central1" },
  kling: { access_key: "kling-access-key" },
};

/** The header with the account's credential, where it is not a bearer token in `authorization`. */
const credentials: Readonly<Record<string, (headers: Readonly<Record<string, unknown>>, body: Buffer) => void>> = {
  anthropic: (headers) => expect(headers["x-api-key"]).toBe(secret),
  gemini: (headers) => expect(headers["x-goog-api-key"]).toBe(secret),
  "azure-openai": (headers) => expect(headers["api-key"]).toBe(secret),
  fal: (headers) => expect(headers["authorization"]).toBe(`Key ${secret}`),
  vidu: (headers) => expect(headers["authorization"]).toBe(`Token ${secret}`),
  kling: (headers) => {
    const [, token = ""] = String(headers["authorization"]).split(" ");
    const [head = "", claims = "", signature = ""] = token.split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({ iss: "kling-access-key" });
    const expected = new Bun.CryptoHasher("sha256", secret).update(`${head}.${claims}`).digest("base64url");
    expect(signature).toBe(expected);
  },
  bedrock: (headers, body) => {
    expect(String(headers["authorization"])).toContain(`AWS4-HMAC-SHA256 Credential=${accessKeyId}/`);
    // The signature covers the exact bytes that arrived.
    expect(headers["x-amz-content-sha256"]).toBe(createHash("sha256").update(body).digest("hex"));
  },
};

// The demo provider has no address, because it answers within the gateway.
const kinds = providerKinds.filter(({ id }) => id !== "demo").map(({ id }) => id);

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  gateway = await startGateway({
    providers: () =>
      kinds.map(
        (kind): ProviderConfig => ({
          id: `p-${kind}`,
          kind,
          base_url: vendor.url,
          ...(kind === "bedrock" ? {} : { api_key: secret }),
          allow_private_network: true,
          ...(settings[kind] === undefined ? {} : { settings: settings[kind] }),
        }),
      ),
    models: [],
    workspace: (() => {
      const pass_through = kinds.map((kind) => `p-${kind}`);
      return {
        pass_through,
        groups: [{ name: "default", pass_through }],
        keys: [{ name: "alice", secret: aliceKey, pass_through }],
      };
    })(),
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** The headers in which clients send their keys, also together with a cookie. */
const callers: readonly Record<string, string>[] = [
  { authorization: `Bearer ${aliceKey}` },
  { "x-api-key": aliceKey },
  { "x-goog-api-key": aliceKey },
  { authorization: `Bearer ${aliceKey}`, "x-api-key": aliceKey, cookie: `session=${aliceKey}` },
];

describe.each(kinds)("passed-through calls to the provider type %s", (kind) => {
  test("carry the account's credential and nothing of the caller's", async () => {
    for (const headers of callers) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const body = method === "GET" || method === "DELETE" ? null : Buffer.from([0, 255, 10, 13, 123]);
        const answer = await fetch(`${gateway.url}/v1/providers/p-${kind}/things/one`, { method, headers, body });
        expect(`${method} ${answer.status}`).toBe(`${method} 200`);
        const { target, headers: sent, body: received } = vendor.last;
        expect(target).toEndWith("/things/one");
        expect(target).toStartWith("/v1/");
        const check =
          credentials[kind] ?? ((sentHeaders) => expect(sentHeaders["authorization"]).toBe(`Bearer ${secret}`));
        check(sent, received);
        expect(JSON.stringify(sent)).not.toContain(aliceKey);
        expect(new Uint8Array(received)).toEqual(new Uint8Array(body ?? []));
        expect(await answer.text()).not.toContain(secret);
      }
    }
  });

  test("reach no vendor without a grant", async () => {
    const before = vendor.received.length;
    const headers = { authorization: `Bearer ${aliceKey}` };
    expect((await fetch(`${gateway.url}/v1/providers/q-${kind}/things/one`, { headers })).status).toBe(404);
    expect((await fetch(`${gateway.url}/v1/providers/p-${kind}/organization/x`, { headers })).status).toBe(403);
    expect(vendor.received.length).toBe(before);
  });
});
