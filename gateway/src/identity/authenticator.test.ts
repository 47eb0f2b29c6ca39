import { describe, expect, test } from "bun:test";
import { type ApiKey, type Catalog, Failure, type Group, type LimitScope, type Workspace } from "#core/index.ts";
import type { KeyStore, Vault } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { quietCatalog } from "../../test/quiet-catalog.ts";
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
};

class KeysInMemory implements KeyStore {
  readonly keys = new Map<string, ApiKey>();
  reads = 0;

  async find(digest: string): Promise<ApiKey | null> {
    this.reads++;
    return this.keys.get(digest) ?? null;
  }
}

function gateway(overrides: Partial<ApiKey> = {}, catalog: Partial<Catalog> = {}) {
  const keyStore = new KeysInMemory();
  keyStore.keys.set("digest of secret", { ...key, ...overrides });
  const clock = new FakeClock(1_000_000);
  const current: Catalog = {
    ...quietCatalog({ workspaces: new Map([[workspace.id, workspace]]), groups: new Map([[group.id, group]]) }),
    ...catalog,
  };
  return { keyStore, clock, authenticator: new Authenticator({ vault, keyStore, catalog: () => current, clock }) };
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

  test("is refused from the moment a change notice says so", async () => {
    const { authenticator, keyStore } = gateway();
    await authenticator.authenticate(bearer("secret"), address);
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
