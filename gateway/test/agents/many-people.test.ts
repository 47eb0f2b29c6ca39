import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type ApiKey, bounds, type ConfigSnapshot, personDigest, sessionDigest } from "#core/index.ts";
import { Authenticator } from "#identity/index.ts";
import type { KeyStore, Vault } from "#ports/index.ts";
import { AccessTokens } from "../../src/identity/agents/access-tokens.ts";
import { FakeClock } from "../fake-clock.ts";
import { governedPrincipal } from "../simulation/governed-principal.ts";

/** How many people call at once. Try more by hand: `PEOPLE=10000 bun test …/many-people.test.ts`. */
const count = Number(process.env["PEOPLE"] ?? 500);

const vault = {
  derive: (purpose: string, about: string) => `derived ${purpose} ${about}`,
  deriveValid: (purpose: string, about: string) => [`derived ${purpose} ${about}`],
  digest: (secret: string) => `digest ${secret}`,
} as unknown as Vault;

test("a first call with an access token reads two rows, later calls none; the cache is bounded", async () => {
  const clock = new FakeClock();
  const { key, group, workspace } = governedPrincipal({});
  let reads = 0;
  const keys = new Map<string, ApiKey>();
  const keyStore = {
    find: async (digest: string) => {
      reads++;
      return keys.get(digest) ?? null;
    },
  } as unknown as KeyStore;
  const configSnapshot = {
    workspaces: new Map([[workspace.id, workspace]]),
    groups: new Map([[group.id, group]]),
    budgetPolicies: [],
  } as unknown as ConfigSnapshot;
  const authenticator = new Authenticator({
    vault,
    keyStore,
    configSnapshot: () => configSnapshot,
    clock,
    feedReadAtMs: () => 0,
  });
  const tokens = new AccessTokens(vault, clock);
  const issued = Array.from({ length: count }, (_, n) => {
    const person = { userId: `usr_${n}`, email: `p${n}@example.com`, name: "P", keyId: `key_${n}`, group: "default" };
    const own: ApiKey = { ...key, id: person.keyId, personId: person.userId };
    const sessionId = `ags_${n}`;
    keys.set(sessionDigest(sessionId), own);
    keys.set(personDigest(person.keyId), own);
    const expiresAt = clock.now() + bounds.agentSessionIdleMs;
    const grant = { sessionId, generation: 1, expiresAt, person };
    return new Headers({ authorization: `Bearer ${tokens.issue(grant, "https://gateway.example.com").token}` });
  });
  const heapBefore = heapOf();
  const round = () => Promise.all(issued.map(async (headers) => await authenticator.authenticate(headers, "")));
  const first = await round();
  expect(new Set(first.map(({ person }) => person)).size).toBe(count);
  expect(reads).toBe(2 * count);
  const startedMs = process.cpuUsage().user;
  await round();
  await round();
  expect(reads).toBe(2 * count);
  if (process.env["PEOPLE"] !== undefined) {
    const us = (process.cpuUsage().user - startedMs) / (2 * count);
    console.log(
      `${count} people: ${((heapOf() - heapBefore) / count / 1024).toFixed(1)} KiB each, ${us.toFixed(0)} µs a call`,
    );
  }
  // A user is removed: only their next call reads again, and is refused.
  keys.delete(sessionDigest("ags_7"));
  authenticator.changed({ kind: "key", digest: sessionDigest("ags_7") });
  await expect((async () => await authenticator.authenticate(issued[7] ?? new Headers(), ""))()).rejects.toMatchObject({
    code: "invalid_api_key",
  });
  await authenticator.authenticate(issued[8] ?? new Headers(), "");
  expect(reads).toBe(2 * count + 1);
  // Tokens of sign-ins that never existed are remembered briefly, up to a limit.
  for (let guess = 0; guess < 100; guess++) {
    const headers = new Headers({ authorization: `Bearer sk-sluice-${randomBytes(8).toString("hex")}` });
    await Promise.resolve(authenticator.authenticate(headers, "")).catch(() => {});
  }
  clock.advance(bounds.accessTokenMs);
  expect(() => authenticator.authenticate(issued[8] ?? new Headers(), "")).toThrow("expired");
});

function heapOf(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}
