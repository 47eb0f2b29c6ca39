import { expect } from "bun:test";
import { createScimStore, type ScimStore } from "#directory/index.ts";
import { makeScimTokenSecret } from "#identity/index.ts";
import { ScimCalls } from "../../src/admin/scim/scim-calls.ts";
import { type ConsoleFixture, openConsoleFixture } from "../console-fixture.ts";

interface ScimAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as freely as a caller would.
  readonly body: any;
}

export interface ScimFixture extends ConsoleFixture {
  readonly scim: ScimStore;
  readonly secret: string;
  /** A request of the directory. `body` is JSON, or text that is sent as it is; the header `from` is its address. */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ScimAnswer>;
  /** The same, and asserts that it succeeds. */
  ok(method: string, path: string, body?: unknown): Promise<ScimAnswer["body"]>;
  refused(method: string, path: string, body: unknown, status: number, scimType: string | null): Promise<void>;
}

export const entraUser = (name: string, more: object = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User", "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
  externalId: `object-of-${name}`,
  userName: `${name}@corp.example`,
  active: true,
  displayName: `${name} of Entra`,
  emails: [{ primary: true, type: "work", value: `${name}@corp.example` }],
  meta: { resourceType: "User" },
  name: { formatted: `${name} Formatted`, familyName: "Family", givenName: name },
  "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "R&D", manager: { value: "x" } },
  addresses: [{ type: "work", locality: "Berlin" }],
  ...more,
});

export const patch = (...Operations: readonly object[]) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations,
});

/** The SCIM API over the real stores, with a token that an administrator created. */
export async function openScimFixture(): Promise<ScimFixture> {
  const fixture = await openConsoleFixture();
  const scim = createScimStore(fixture);
  const secret = makeScimTokenSecret(new Uint8Array(32).fill(7));
  await fixture.people.createToken(
    {
      name: "directory",
      grant: { administrator: true },
      ownerId: fixture.users.administrator.id,
      digest: fixture.vault.digest(secret),
      prefix: secret.slice(0, 16),
      expiresAt: null,
      scim: true,
    },
    { actor: "test", ip: null },
  );
  const calls = new ScimCalls({ ...fixture, scim, publicUrl: "https://gateway.example", changesSeen: async () => {} });
  const send: ScimFixture["send"] = async (method, path, body, { from = "192.0.2.9", ...headers } = {}) => {
    const request = new Request(`http://gateway.test/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/scim+json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const answer = await calls.answer(request, from);
    const text = await answer.text();
    if (text !== "") expect(answer.headers.get("content-type")).toStartWith("application/scim+json");
    return { status: answer.status, headers: answer.headers, body: text === "" ? null : JSON.parse(text) };
  };
  return {
    ...fixture,
    scim,
    secret,
    send,
    async ok(method, path, body) {
      const answer = await send(method, path, body);
      expect([method, path, answer.status < 300 ? "good" : answer.body]).toEqual([method, path, "good"]);
      return answer.body;
    },
    async refused(method, path, body, status, scimType) {
      const answer = await send(method, path, body);
      expect([answer.status, answer.body?.scimType ?? null, answer.body?.schemas]).toEqual([
        status,
        scimType,
        ["urn:ietf:params:scim:api:messages:2.0:Error"],
      ]);
      expect(answer.body.status).toBe(String(status));
    },
    [Symbol.asyncDispose]: fixture[Symbol.asyncDispose],
  };
}
