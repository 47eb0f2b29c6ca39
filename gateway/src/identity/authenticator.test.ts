import { describe, expect, test } from "bun:test";
import {
  type ApiKey,
  bounds,
  type ConfigSnapshot,
  Failure,
  type Group,
  type LimitScope,
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

/** Digests are the text itself here, so that a test can see which of two secrets was asked for. */
const vault: Vault = {
  digest: (secret) => `digest of ${secret}`,
  seal: () => "",
  open: () => {
    throw new Error("not asked for");
  },
  derive: () => "",
  deriveValid: () => [],
  deriveAll: () => [],
};

class KeysInMemory implements KeyStore {
  readonly keys = new Map<string, ApiKey>();
  reads = 0;
  #failure: Failure | null = null;

  /** The readings from now on; how many there were is told. */
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
}

function gateway(overrides: Partial<ApiKey> = {}, configSnapshot: Partial<ConfigSnapshot> = {}) {
  const keyStore = new KeysInMemory();
  keyStore.keys.set("digest of secret", { ...key, ...overrides });
  const clock = new FakeClock(1_000_000);
  const current: ConfigSnapshot = {
    ...quietConfigSnapshot({ workspaces: new Map([[workspace.id, workspace]]), groups: new Map([[group.id, group]]) }),
    ...configSnapshot,
  };
  /** When the feed of changes was read to its end. */
  const feed = { currentAtMs: 0 };
  const authenticator = new Authenticator({
    ...{ vault, keyStore, clock },
    configSnapshot: () => current,
    changesKnownAtMs: () => feed.currentAtMs,
  });
  return { keyStore, clock, feed, authenticator };
}

const bearer = (secret: string): Headers => new Headers({ authorization: `Bearer ${secret}` });
const address = (): string => "203.0.113.7";

async function refusalOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.code;
    throw thrown;
  }
  return "let in";
}

describe("a known caller", () => {
  test("is read from the database once, then answered without any wait", async () => {
    const { authenticator, keyStore } = gateway();
    expect((await authenticator.authenticate(bearer("secret"), address)).key.id).toBe("key_1");
    for (let call = 0; call < 100; call++) {
      expect(authenticator.authenticate(bearer("secret"), address)).not.toBeInstanceOf(Promise);
    }
    expect(keyStore.reads).toBe(1);
  });

  test("is read once however many first calls come together", async () => {
    const { authenticator, keyStore } = gateway();
    await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(bearer("secret"), address)));
    expect(keyStore.reads).toBe(1);
  });

  test("may send the key in either header, or the same in both", async () => {
    const { authenticator } = gateway();
    for (const headers of [
      bearer("secret"),
      new Headers({ "x-api-key": "secret" }),
      new Headers({ authorization: "bearer secret", "x-api-key": "secret" }),
    ]) {
      expect((await authenticator.authenticate(headers, address)).key.id).toBe("key_1");
    }
  });

  test("is refused from the moment a change notice says so, however often it has called", async () => {
    const { authenticator, keyStore } = gateway();
    for (let call = 0; call < 200; call++) await authenticator.authenticate(bearer("secret"), address);
    keyStore.keys.set("digest of secret", { ...key, enabled: false });
    authenticator.changed({ kind: "key", digest: "digest of secret" });
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("disabled_api_key");
  });

  test("that is revoked while its first read is under way is not remembered as good", async () => {
    const { authenticator, keyStore } = gateway();
    const first = authenticator.authenticate(bearer("secret"), address);
    keyStore.keys.delete("digest of secret");
    authenticator.changed({ kind: "key", digest: "digest of secret" });
    await first;
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("invalid_api_key");
  });

  test("stops being let in at the moment its key expires", async () => {
    const { authenticator, clock } = gateway({ expiresAt: 1_000_500 });
    await authenticator.authenticate(bearer("secret"), address);
    clock.advance(500);
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("expired_api_key");
  });
});

describe("a known key", () => {
  const away = new Failure("storage_unavailable", "The database is away.");
  const letIn = async ({ authenticator }: ReturnType<typeof gateway>) =>
    await refusalOf(() => authenticator.authenticate(bearer("secret"), address));
  const staleMaxMs = quietConfigSnapshot().settings["keys.stale_max"] * 1_000;

  test("is read once an hour while the feed of changes says that nothing has changed", async () => {
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

  test("is read anew beside its calls when the feed is interrupted, and none of them waits", async () => {
    const { authenticator, keyStore, clock } = gateway();
    await authenticator.authenticate(bearer("secret"), address);
    for (let second = 0; second < 600; second++) {
      clock.advance(1_000);
      expect(authenticator.authenticate(bearer("secret"), address)).not.toBeInstanceOf(Promise);
      await Promise.resolve();
    }
    expect(keyStore.reads).toBeWithin(2, 600_000 / bounds.keyFreshMs + 2);
  });

  test("that was revoked while the feed is interrupted is refused after a minute at the latest", async () => {
    const one = gateway();
    await letIn(one);
    one.keyStore.keys.delete("digest of secret");
    one.clock.advance(bounds.keyAgeMsMax - 1);
    // This call is still let in, and the reading that it began tells.
    expect(await letIn(one)).toBe("let in");
    expect(await letIn(one)).toBe("invalid_api_key");
    const idle = gateway();
    await letIn(idle);
    idle.keyStore.keys.delete("digest of secret");
    idle.clock.advance(bounds.keyAgeMsMax);
    expect(await letIn(idle)).toBe("invalid_api_key");
  });

  test("is accepted while the database is away, until keys.stale_max is over", async () => {
    const one = gateway();
    await letIn(one);
    const failing = one.keyStore.failWith(away);
    one.clock.advance(bounds.keyFreshMs);
    for (let call = 0; call < 100; call++) expect(await letIn(one)).toBe("let in");
    // A database that fails is asked once a second, not by every call.
    expect(failing()).toBe(1);
    for (const ageMs of [55_000, bounds.keyAgeMsMax, 65_000, 1_800_000, staleMaxMs - 1]) {
      one.clock.advance(ageMs - one.clock.monotonic());
      for (let call = 0; call < 100; call++) expect(await letIn(one)).toBe("let in");
    }
    expect(failing()).toBe(6);
    one.clock.advance(1);
    expect(await letIn(one)).toBe("storage_unavailable");
    one.keyStore.failWith(null);
    expect(await letIn(one)).toBe("let in");
  });

  test("is refused at once when its revocation is heard of while the database is away", async () => {
    const one = gateway();
    await letIn(one);
    one.keyStore.failWith(away);
    one.clock.advance(bounds.keyAgeMsMax);
    expect(await letIn(one)).toBe("let in");
    one.authenticator.changed({ kind: "key", digest: "digest of secret" });
    expect(await letIn(one)).toBe("storage_unavailable");
  });

  test("is read for so many keys at once, so that a crowd of them does not crowd the database", async () => {
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

describe("a key as a caller, for whoever may use it without its secret", () => {
  const held = { ...key, allowedIps: ["203.0.113.7"] };

  test("is the principal that its secret would be, wherever it is used from", async () => {
    const { authenticator } = gateway({ allowedIps: held.allowedIps });
    const [own, known] = [
      authenticator.principalOf(held),
      await authenticator.authenticate(bearer("secret"), () => "203.0.113.7"),
    ];
    expect(own).toEqual(known);
  });

  test("is refused as its secret would be", async () => {
    const { authenticator, clock } = gateway();
    const refused = (more: Partial<ApiKey>) => refusalOf(() => authenticator.principalOf({ ...key, ...more }));
    expect(await refused({ enabled: false })).toBe("disabled_api_key");
    expect(await refused({ expiresAt: clock.now() })).toBe("expired_api_key");
    expect(await refused({ groupId: "grp_gone" })).toBe("invalid_api_key");
    const closed = gateway({}, { workspaces: new Map([["ws_1", { ...workspace, enabled: false }]]) });
    expect(await refusalOf(() => closed.authenticator.principalOf(key))).toBe("forbidden");
  });
});

describe("a caller that is not let in", () => {
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
  ])("with %s is refused as %s", async (_title, headers, code) => {
    const { authenticator } = gateway();
    expect(await refusalOf(() => authenticator.authenticate(headers, address))).toBe(code);
  });

  test("costs one database read for each guess, and none for a repeated one", async () => {
    const { authenticator, keyStore } = gateway();
    for (let call = 0; call < 20; call++) await refusalOf(() => authenticator.authenticate(bearer("guess"), address));
    expect(keyStore.reads).toBe(1);
  });

  test("is let in soon after its key was made", async () => {
    const { authenticator, keyStore } = gateway();
    expect(await refusalOf(() => authenticator.authenticate(bearer("new"), address))).toBe("invalid_api_key");
    keyStore.keys.set("digest of new", key);
    authenticator.changed({ kind: "key", digest: "digest of new" });
    expect((await authenticator.authenticate(bearer("new"), address)).key.id).toBe("key_1");
  });

  test.each([
    [["203.0.113.0/24"], "let in"],
    [["203.0.113.7"], "let in"],
    [["198.51.100.0/24", "2001:db8::/32"], "ip_not_allowed"],
    [[], "ip_not_allowed"],
  ])("from an address outside %j: %s", async (allowedIps, outcome) => {
    const { authenticator } = gateway({ allowedIps });
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe(outcome);
  });

  test("belongs to a workspace that is disabled", async () => {
    const { authenticator } = gateway({}, { workspaces: new Map([["ws_1", { ...workspace, enabled: false }]]) });
    expect(await refusalOf(() => authenticator.authenticate(bearer("secret"), address))).toBe("forbidden");
  });
});
