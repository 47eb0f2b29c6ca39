import { describe, expect, test } from "bun:test";
import {
  type ApiKey,
  bounds,
  type ConfigSnapshot,
  Failure,
  type Group,
  importedDigest,
  type LimitScope,
  type Secret,
  type Workspace,
} from "#core/index.ts";
import type { KeyStore, Vault } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { quietConfigSnapshot } from "../../test/quiet-config-snapshot.ts";
import { Authenticator } from "./authenticator.ts";

const scope = (kind: LimitScope["kind"]): LimitScope => ({ kind, id: kind, label: kind, limits: {}, budget: null });
const workspace: Workspace = {
  id: "ws_1",
  slug: "acme",
  name: "Acme",
  models: ["*"],
  passThrough: [],
  scope: scope("workspace"),
  enabled: true,
};
const group: Group = {
  id: "grp_1",
  workspaceId: "ws_1",
  name: "default",
  models: ["*"],
  passThrough: [],
  scope: scope("group"),
};
const key: ApiKey = {
  id: "key_1",
  workspaceId: "ws_1",
  groupId: "grp_1",
  name: "ci",
  prefix: "sk-sluice-ab",
  lastFour: "wxyz",
  models: null,
  passThrough: [],
  allowedIps: null,
  scope: scope("key"),
  enabled: true,
  expiresAt: null,
  createdAt: 0,
  tags: {},
  capture: "none",
};

/** Readable digests. */
const vault: Vault = {
  digest: (secret) => `digest of ${secret}`,
  seal: () => "",
  open: () => {
    throw new Error("not expected");
  },
  derive: () => "",
  deriveValid: () => [],
  deriveAll: () => [],
};

class KeysInMemory implements KeyStore {
  readonly keys = new Map<string, ApiKey>();
  reads = 0;
  #failure: Failure | null = null;

  /** Fails all reads from now on. Returns a function that returns their number. */
  failWith(failure: Failure | null): () => number {
    const before = this.reads;
    this.#failure = failure;
    return () => this.reads - before;
  }

  async find(digest: string): Promise<ApiKey | null> {
    this.reads++;
    if (this.#failure !== null) throw this.#failure;
    return this.keys.get(digest) ?? null;
  }

  /** Secrets by the digest that they replaced. */
  readonly adopted = new Map<string, string>();
  async adoptSecret(digest: string, secret: Secret): Promise<void> {
    this.reads++;
    if (this.#failure !== null) throw this.#failure;
    this.adopted.set(digest, secret.reveal());
  }
}

function gateway(overrides: Partial<ApiKey> = {}, configSnapshot: Partial<ConfigSnapshot> = {}) {
  const keyStore = new KeysInMemory();
  keyStore.keys.set("digest of secret", { ...key, ...overrides });
  const clock = new FakeClock(1_000_000);
  const current: ConfigSnapshot = {
    ...quietConfigSnapshot({ workspaces: new Map([[workspace.id, workspace]]), groups: new Map([[group.id, group]]) }),
    ...configSnapshot,
  };
  /** When the change feed was last read to its end. */
  const feed = { currentAtMs: 0 };
  const authenticator = new Authenticator({
    ...{ vault, keyStore, clock },
    configSnapshot: () => current,
    feedReadAtMs: () => feed.currentAtMs,
  });
  return { keyStore, clock, feed, authenticator };
}

const bearer = (secret: string): Headers => new Headers({ authorization: `Bearer ${secret}` });
const address = "203.0.113.7";

async function refusalOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.code;
    throw thrown;
  }
  return "accepted";
}

describe("an imported key", () => {
  const sha256 = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  const imported = importedDigest(`digest of ${sha256}`);

  function imports(until: number | null, overrides: Partial<ApiKey> = {}) {
    const fixture = gateway({}, until === null ? {} : { importedKeysUntil: until });
    fixture.keyStore.keys.clear();
    fixture.keyStore.keys.set(imported, { ...key, ...overrides });
    return fixture;
  }

  test("is found by the SHA-256 of its secret, and gets its own digest", async () => {
    const { authenticator, keyStore } = imports(Number.POSITIVE_INFINITY);
    expect((await authenticator.authenticate(bearer("secret"), address)).key.id).toBe("key_1");
    expect([...keyStore.adopted]).toEqual([[imported, "secret"]]);
  });

  test("is not found by its digest, and not once there are no imported keys", async () => {
    const { authenticator, clock } = imports(1_000_100);
    expect(await refusalOf(() => authenticator.authenticate(bearer(sha256), address))).toBe("invalid_api_key");
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("accepted");
    clock.advance(200);
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("invalid_api_key");
    const without = imports(null);
    expect(await refusalOf(() => without.authenticator.authenticate(bearer("secret"), address))).toBe(
      "invalid_api_key",
    );
    expect(without.keyStore.reads).toBe(1);
  });

  test("is refused when it is revoked or disabled, and keeps its digest", async () => {
    for (const [overrides, code] of [
      [{ revoked: true }, "revoked_api_key"],
      [{ enabled: false }, "disabled_api_key"],
      [{ secretUntil: 5 }, "expired_api_key"],
    ] as const) {
      const { authenticator, keyStore } = imports(Number.POSITIVE_INFINITY, overrides);
      expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe(code);
      expect(keyStore.adopted.size).toBe(0);
    }
  });

  test("guesses are read once for each digest, then answered from the cache", async () => {
    const { authenticator, keyStore } = imports(Number.POSITIVE_INFINITY);
    for (let call = 0; call < 10; call++) {
      expect(await refusalOf(() => authenticator.authenticate(bearer("guess"), address))).toBe("invalid_api_key");
    }
    expect(keyStore.reads).toBe(2);
  });

  test("works while its digest cannot be replaced, which is tried again after a pause", async () => {
    const { authenticator, keyStore, clock } = imports(Number.POSITIVE_INFINITY);
    await authenticator.authenticate(bearer("secret"), address);
    keyStore.adopted.clear();
    const attempts = keyStore.failWith(new Failure("storage_unavailable", "down"));
    for (let call = 0; call < 5; call++) await authenticator.authenticate(bearer("secret"), address);
    expect(attempts()).toBe(1);
    keyStore.failWith(null);
    clock.advance(bounds.keyRefreshRestMs);
    await authenticator.authenticate(bearer("secret"), address);
    expect(keyStore.adopted.size).toBe(1);
  });
});

describe("a cached key", () => {
  test("is read once, then accepted synchronously", async () => {
    const { authenticator, keyStore } = gateway();
    expect((await authenticator.authenticate(bearer("secret"), address)).key.id).toBe("key_1");
    for (let call = 0; call < 100; call++) {
      expect(authenticator.authenticate(bearer("secret"), address)).not.toBeInstanceOf(Promise);
    }
    expect(keyStore.reads).toBe(1);
  });

  test("is read once for concurrent first calls", async () => {
    const { authenticator, keyStore } = gateway();
    await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(bearer("secret"), address)));
    expect(keyStore.reads).toBe(1);
  });

  test("is accepted in either header, or the same in both", async () => {
    const { authenticator } = gateway();
    for (const headers of [
      bearer("secret"),
      new Headers({ "x-api-key": "secret" }),
      new Headers({ authorization: "bearer secret", "x-api-key": "secret" }),
    ]) {
      expect((await authenticator.authenticate(headers, address)).key.id).toBe("key_1");
    }
  });

  test("is refused right after a change notice", async () => {
    const { authenticator, keyStore } = gateway();
    for (let call = 0; call < 200; call++) await authenticator.authenticate(bearer("secret"), address);
    keyStore.keys.set("digest of secret", { ...key, enabled: false });
    authenticator.changed({ kind: "key", digest: "digest of secret" });
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("disabled_api_key");
  });

  test("is not cached if it was revoked during its first read", async () => {
    const { authenticator, keyStore } = gateway();
    const first = authenticator.authenticate(bearer("secret"), address);
    keyStore.keys.delete("digest of secret");
    authenticator.changed({ kind: "key", digest: "digest of secret" });
    await first;
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("invalid_api_key");
  });

  test("is refused when it expires", async () => {
    const { authenticator, clock } = gateway({ expiresAt: 1_000_500 });
    await authenticator.authenticate(bearer("secret"), address);
    clock.advance(500);
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("expired_api_key");
  });
});

describe("a key in a cache that may be stale", () => {
  const unavailable = new Failure("storage_unavailable", "The database is unavailable.");
  const outcomeOf = async ({ authenticator }: ReturnType<typeof gateway>) =>
    await refusalOf(() => authenticator.authenticate(bearer("secret"), address));
  const staleMaxMs = quietConfigSnapshot().settings["keys.stale_max"] * 1_000;

  test("is read once an hour while the change feed is current", async () => {
    const { authenticator, keyStore, clock, feed } = gateway();
    await authenticator.authenticate(bearer("secret"), address);
    const hours = 3;
    for (let second = 0; second < hours * 3_600; second++) {
      clock.advance(1_000);
      feed.currentAtMs = clock.monotonic();
      expect(authenticator.authenticate(bearer("secret"), address)).not.toBeInstanceOf(Promise);
      await Promise.resolve();
    }
    expect(keyStore.reads).toBe(1 + hours);
  });

  test("is read again in the background while the change feed is interrupted", async () => {
    const { authenticator, keyStore, clock } = gateway();
    await authenticator.authenticate(bearer("secret"), address);
    for (let second = 0; second < 600; second++) {
      clock.advance(1_000);
      expect(authenticator.authenticate(bearer("secret"), address)).not.toBeInstanceOf(Promise);
      await Promise.resolve();
    }
    expect(keyStore.reads).toBeWithin(2, 600_000 / bounds.keyFreshMs + 2);
  });

  test("is refused within a minute of its revocation while the change feed is interrupted", async () => {
    const one = gateway();
    await outcomeOf(one);
    one.keyStore.keys.delete("digest of secret");
    one.clock.advance(bounds.keyAgeMsMax - 1);
    // This call is accepted, and starts the read that finds the revocation.
    expect(await outcomeOf(one)).toBe("accepted");
    expect(await outcomeOf(one)).toBe("invalid_api_key");
    const idle = gateway();
    await outcomeOf(idle);
    idle.keyStore.keys.delete("digest of secret");
    idle.clock.advance(bounds.keyAgeMsMax);
    expect(await outcomeOf(idle)).toBe("invalid_api_key");
  });

  test("is accepted while the database is unavailable, for keys.stale_max", async () => {
    const one = gateway();
    await outcomeOf(one);
    const failing = one.keyStore.failWith(unavailable);
    one.clock.advance(bounds.keyFreshMs);
    for (let call = 0; call < 100; call++) expect(await outcomeOf(one)).toBe("accepted");
    // A failing database is read once a second, not for every call.
    expect(failing()).toBe(1);
    for (const ageMs of [55_000, bounds.keyAgeMsMax, 65_000, 1_800_000, staleMaxMs - 1]) {
      one.clock.advance(ageMs - one.clock.monotonic());
      for (let call = 0; call < 100; call++) expect(await outcomeOf(one)).toBe("accepted");
    }
    expect(failing()).toBe(6);
    one.clock.advance(1);
    expect(await outcomeOf(one)).toBe("storage_unavailable");
    one.keyStore.failWith(null);
    expect(await outcomeOf(one)).toBe("accepted");
  });

  test("is refused if a change notice arrives while the database is unavailable", async () => {
    const one = gateway();
    await outcomeOf(one);
    one.keyStore.failWith(unavailable);
    one.clock.advance(bounds.keyAgeMsMax);
    expect(await outcomeOf(one)).toBe("accepted");
    one.authenticator.changed({ kind: "key", digest: "digest of secret" });
    expect(await outcomeOf(one)).toBe("storage_unavailable");
  });

  test("limits concurrent background reads", async () => {
    const { authenticator, keyStore, clock } = gateway();
    const names = Array.from({ length: 100 }, (_, n) => `secret ${n}`);
    for (const name of names) keyStore.keys.set(`digest of ${name}`, key);
    const call = (name: string) => authenticator.authenticate(bearer(name), address);
    await Promise.all(names.map(call));
    clock.advance(bounds.keyFreshMs);
    const before = keyStore.reads;
    for (const name of names) call(name);
    expect(keyStore.reads - before).toBe(bounds.keyRefreshesMax);
  });
});

describe("a principal from a key without its secret", () => {
  const held = { ...key, allowedIps: ["203.0.113.7"] };

  test("equals the principal of its secret, from any address", async () => {
    const { authenticator } = gateway({ allowedIps: held.allowedIps });
    const [own, known] = [
      authenticator.principalOf(held),
      await authenticator.authenticate(bearer("secret"), "203.0.113.7"),
    ];
    expect(own).toEqual(known);
  });

  test("is refused like its secret", async () => {
    const { authenticator, clock } = gateway();
    const refused = (more: Partial<ApiKey>) => refusalOf(() => authenticator.principalOf({ ...key, ...more }));
    expect(await refused({ enabled: false })).toBe("disabled_api_key");
    expect(await refused({ expiresAt: clock.now() })).toBe("expired_api_key");
    expect(await refused({ groupId: "grp_gone" })).toBe("invalid_api_key");
    const closed = gateway({}, { workspaces: new Map([["ws_1", { ...workspace, enabled: false }]]) });
    expect(await refusalOf(() => closed.authenticator.principalOf(key))).toBe("forbidden");
  });
});

describe("a refused caller", () => {
  test.each([
    ["no key at all", new Headers(), "invalid_api_key"],
    ["an unknown key", bearer("guess"), "invalid_api_key"],
    ["a key that is too long to be one", bearer("x".repeat(5_000)), "invalid_api_key"],
    ["another scheme", new Headers({ authorization: "Basic c2VjcmV0" }), "invalid_api_key"],
    [
      "two different keys",
      new Headers({ authorization: "Bearer secret", "x-api-key": "other" }),
      "conflicting_credentials",
    ],
  ])("with %s gets %s", async (_title, headers, code) => {
    const { authenticator } = gateway();
    expect(await refusalOf(() => authenticator.authenticate(headers, address))).toBe(code);
  });

  test("costs one database read per unknown key", async () => {
    const { authenticator, keyStore } = gateway();
    for (let call = 0; call < 20; call++) await refusalOf(() => authenticator.authenticate(bearer("guess"), address));
    expect(keyStore.reads).toBe(1);
  });

  test("is accepted after its key was created", async () => {
    const { authenticator, keyStore } = gateway();
    expect(await refusalOf(() => authenticator.authenticate(bearer("new"), address))).toBe("invalid_api_key");
    keyStore.keys.set("digest of new", key);
    authenticator.changed({ kind: "key", digest: "digest of new" });
    expect((await authenticator.authenticate(bearer("new"), address)).key.id).toBe("key_1");
  });

  test.each([
    [["203.0.113.0/24"], "accepted"],
    [["203.0.113.7"], "accepted"],
    [["198.51.100.0/24", "2001:db8::/32"], "ip_not_allowed"],
    [[], "ip_not_allowed"],
  ])("from an address outside %j: %s", async (allowedIps, outcome) => {
    const { authenticator } = gateway({ allowedIps });
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe(outcome);
  });

  test("is refused while its workspace is disabled", async () => {
    const { authenticator } = gateway({}, { workspaces: new Map([["ws_1", { ...workspace, enabled: false }]]) });
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("forbidden");
  });
});
