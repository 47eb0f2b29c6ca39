import { describe, expect, test } from "bun:test";
import { guardrailBounds, guardrailTestCharsMax, guardrailTestFindingsMax } from "@sluice/contract";
import type { Who } from "../console-fixture.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const credentials = { name: "no-credentials", check: { kind: "credentials" }, action: "block" } as const;
const webhook = {
  kind: "webhook",
  url: "https://dlp.example/check?team=7",
  secret: "a-secret-of-the-webhook",
} as const;
const acme = { workspace: "acme" };
const installation = { workspace: "-" };

type Fields = Readonly<Record<string, unknown>>;

async function create(fixture: TenantFixture, who: Who, workspace: string, fields: Fields = {}) {
  return await fixture.call(who, "guardrails.create", { params: { workspace }, body: { ...credentials, ...fields } });
}

const update = (fixture: TenantFixture, guardrail: string, body: Fields, workspace = "acme", who: Who = "admin") =>
  fixture.call(who, "guardrails.update", { params: { workspace, guardrail }, body });

const list = async (fixture: TenantFixture, who: Who = "viewer", workspace = "acme") =>
  (await fixture.call(who, "guardrails.list", { params: { workspace } })).body.data;

const rulesOf = (fixture: TenantFixture) => fixture.configSnapshot().guardrails;

const groupOf = (fixture: TenantFixture, workspaceId: string) =>
  [...fixture.configSnapshot().groups.values()].find((group) => group.workspaceId === workspaceId)?.id ?? "";

describe("guardrails", () => {
  test("of a workspace are created by its admin with safe defaults, and take effect at once", async () => {
    await using fixture = await openTenantFixture();
    const made = await create(fixture, "admin", "acme");
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      ...{ name: "no-credentials", workspace: { id: fixture.acme.id, slug: "acme" }, inherited: false },
      ...{ enabled: true, all_calls: true, workspaces: [], groups: [], keys: [] },
      ...{ on: ["input", "output"], at: null, kind: "credentials", check: { kind: "credentials" }, action: "block" },
      ...{ on_error: "block", unreadable: "pass", stream: "window", timeout_ms: 2_000, enforce: true },
      managed_by: "console",
    });
    const [rule] = rulesOf(fixture);
    expect(rule).toMatchObject({ id: made.body.id, workspaceId: fixture.acme.id, timeoutMs: 2_000, enforce: true });
    expect(Object.isFrozen(rule?.check)).toBe(true);
    const shown = await fixture.call("admin", "guardrails.show", { params: { ...acme, guardrail: made.body.id } });
    expect(shown.body).toEqual(made.body);
    expect((await fixture.audit()).at(-1)).toMatchObject({
      ...{ actor: "admin@example.com", action: "create", object: "guardrail acme/no-credentials" },
      workspace_id: fixture.acme.id,
    });
  });

  test("that only flag let calls pass when the check fails", async () => {
    await using fixture = await openTenantFixture();
    expect((await create(fixture, "admin", "acme", { action: "flag" })).body.on_error).toBe("pass");
  });

  test("of the installation apply in every workspace, and cannot be changed there", async () => {
    await using fixture = await openTenantFixture();
    const { id } = (await create(fixture, "administrator", "-")).body;
    await create(fixture, "admin", "acme", { name: "own" });
    expect((await list(fixture)).map(({ name, inherited }: Fields) => [name, inherited])).toEqual([
      ["no-credentials", true],
      ["own", false],
    ]);
    for (const answer of [
      await update(fixture, id, { enabled: false }, "acme", "owner"),
      await fixture.call("owner", "guardrails.remove", { params: { ...acme, guardrail: id } }),
      await update(fixture, id, { enabled: false }, "acme", "administrator"),
    ]) {
      expect(answer).toMatchObject({ status: 404, code: "not_found" });
    }
    expect((await update(fixture, id, { enabled: false }, "-", "owner")).status).toBe(403);
    expect(rulesOf(fixture)).toHaveLength(2);
    expect((await update(fixture, id, { enabled: false }, "-", "administrator")).status).toBe(200);
    expect((await list(fixture)).map(({ name }: Fields) => name)).toEqual(["own"]);
    expect(await list(fixture, "administrator", "-")).toMatchObject([{ id, enabled: false, inherited: false }]);
  });

  test("of the installation show a workspace only what they name there", async () => {
    await using fixture = await openTenantFixture();
    const { key } = (await fixture.makeKey("admin", { name: "ci" })).body;
    const [ours, theirs] = [groupOf(fixture, fixture.acme.id), groupOf(fixture, fixture.other.id)];
    await create(fixture, "administrator", "-", { groups: [ours, theirs], keys: [key.id] });
    await create(fixture, "administrator", "-", { name: "elsewhere", workspaces: [fixture.other.id] });
    expect(await list(fixture)).toMatchObject([{ groups: [ours], keys: [key.id], all_calls: false }]);
    expect(await list(fixture, "stranger", "other")).toMatchObject([
      { name: "elsewhere", workspaces: [fixture.other.id] },
      { name: "no-credentials", groups: [theirs], keys: [] },
    ]);
  });

  test("are created, changed and deleted by admins only", async () => {
    await using fixture = await openTenantFixture();
    const { id } = (await create(fixture, "admin", "acme")).body;
    for (const who of ["viewer", "member"] as const) {
      expect((await create(fixture, who, "acme", { name: "x" })).status).toBe(403);
      expect((await update(fixture, id, { enabled: false }, "acme", who)).status).toBe(403);
      expect((await fixture.call(who, "guardrails.remove", { params: { ...acme, guardrail: id } })).status).toBe(403);
      expect(await list(fixture, who)).toMatchObject([{ id, kind: "credentials", check: null }]);
    }
    expect((await create(fixture, "owner", "-")).status).toBe(403);
    expect((await create(fixture, "stranger", "acme")).status).toBe(404);
    const elsewhere = { params: { workspace: "other", guardrail: id } };
    expect((await fixture.call("stranger", "guardrails.show", elsewhere)).status).toBe(404);
    expect((await fixture.call("stranger", "guardrails.remove", elsewhere)).status).toBe(404);
    expect((await update(fixture, id, { enabled: false }, "other", "stranger")).status).toBe(404);
    const own = { params: { ...acme, guardrail: id } };
    expect((await fixture.call("admin", "guardrails.remove", own)).status).toBe(200);
    expect(await fixture.call("admin", "guardrails.show", own)).toMatchObject({ status: 404, code: "not_found" });
    expect(rulesOf(fixture)).toEqual([]);
  });

  test("keep the secret of a webhook while its URL stays, and never return or audit it", async () => {
    await using fixture = await openTenantFixture();
    const { id, check } = (await create(fixture, "admin", "acme", { check: webhook })).body;
    expect(check).toEqual({ kind: "webhook", url: webhook.url, has_secret: true });
    const secretOf = () => {
      const [rule] = rulesOf(fixture);
      return rule?.check.kind === "webhook" ? rule.check.secret : undefined;
    };
    expect(secretOf()).toBe(webhook.secret);
    const { secret: _secret, ...same } = webhook;
    await update(fixture, id, { check: same, timeout_ms: 500 });
    expect(secretOf()).toBe(webhook.secret);
    await update(fixture, id, { check: { ...same, secret: "another-secret-of-it" } });
    expect(secretOf()).toBe("another-secret-of-it");
    const audit = await fixture.audit();
    expect(JSON.parse(audit.at(-1)?.after ?? "")).toMatchObject({ secret: "[redacted, changed]", timeout_ms: 500 });
    await update(fixture, id, { check: { ...same, url: "https://elsewhere.example/" } });
    expect(secretOf()).toBeNull();
    const written = JSON.stringify([await fixture.audit(), await list(fixture, "admin")]);
    expect(written).not.toContain(webhook.secret);
    expect(written).not.toContain("another-secret-of-it");
    const rows = await fixture.database.kysely.selectFrom("guardrails").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(webhook.secret);
  });

  test("show admins of a workspace only the host of an inherited webhook", async () => {
    await using fixture = await openTenantFixture();
    await create(fixture, "administrator", "-", { check: webhook });
    expect(await list(fixture, "admin")).toMatchObject([{ check: { url: "https://dlp.example" } }]);
    expect(await list(fixture, "administrator")).toMatchObject([{ check: { url: webhook.url } }]);
  });

  test("have unique names in a workspace", async () => {
    await using fixture = await openTenantFixture();
    const { id } = (await create(fixture, "admin", "acme")).body;
    await create(fixture, "admin", "acme", { name: "second" });
    for (const answer of [await create(fixture, "admin", "acme"), await update(fixture, id, { name: "second" })]) {
      expect(answer).toMatchObject({ status: 409, code: "conflict", param: "name" });
    }
    expect((await create(fixture, "administrator", "-")).status).toBe(201);
    expect((await create(fixture, "stranger", "other")).status).toBe(201);
  });

  const wrong: readonly (readonly [string, Fields, string])[] = [
    ["a name with spaces", { name: "No credentials" }, "name"],
    ["an unknown check", { check: { kind: "astrology" } }, "check.kind"],
    ["no words", { check: { kind: "words", words: [] } }, "check.words"],
    ["a blank word", { check: { kind: "words", words: ["a", "  "] } }, "check.words.1"],
    ["an unknown type", { check: { kind: "personal_data", types: ["shoe_size"] } }, "check.types.0"],
    ["a place that does not exist", { at: ["attic"] }, "at.0"],
    ["no side", { on: [] }, "on"],
    ["a long timeout", { timeout_ms: guardrailBounds.timeoutMsMax + 1 }, "timeout_ms"],
    ["another scheme", { check: { ...webhook, url: "file:///etc/passwd" } }, "check.url"],
    ["a credential in the URL", { check: { ...webhook, url: "https://a:b@dlp.example" } }, "check.url"],
    ["a mask of a check without places", { check: { kind: "moderation", model: "guard" }, action: "mask" }, "action"],
    [
      "two patterns of one name",
      {
        check: {
          kind: "patterns",
          patterns: [
            { name: "id", regex: "a" },
            { name: "id", regex: "b" },
          ],
        },
      },
      "check.patterns.1.name",
    ],
    [
      "a pattern that cannot be compiled",
      { check: { kind: "patterns", patterns: [{ name: "id", regex: "(?=a)b" }] } },
      "check.patterns.0.regex",
    ],
    ["a missing model", { check: { kind: "moderation", model: "no-such-model" } }, "check.model"],
    ["a workspace", { workspaces: ["ws_1"] }, "workspaces"],
    ["a group of another workspace", { groups: ["grp_elsewhere"] }, "groups.0"],
    ["a key that does not exist", { keys: ["key_none"] }, "keys.0"],
  ];

  test("refuse invalid fields by name", async () => {
    await using fixture = await openTenantFixture();
    const elsewhere = groupOf(fixture, fixture.other.id);
    const { id } = (await create(fixture, "admin", "acme", { name: "valid" })).body;
    for (const [what, fields, param] of wrong) {
      const sent = fields["groups"] === undefined ? fields : { groups: [elsewhere] };
      const made = await create(fixture, "admin", "acme", sent);
      expect([what, made.status, made.code, made.param]).toEqual([what, 400, "invalid_request", param]);
      expect([what, (await update(fixture, id, sent)).param]).toEqual([what, param]);
    }
    expect(rulesOf(fixture)).toHaveLength(1);
  });

  test("accept as many words as the bounds allow", async () => {
    await using fixture = await openTenantFixture();
    const words = Array.from({ length: guardrailBounds.wordsMax }, (_, index) => `a blocked word ${index}`);
    expect((await create(fixture, "admin", "acme", { check: { kind: "words", words } })).status).toBe(201);
    const [rule] = rulesOf(fixture);
    expect(rule?.check).toMatchObject({ kind: "words", wholeWords: true, ignoreCase: true });
  });

  test("have a maximum number for one call", async () => {
    await using fixture = await openTenantFixture();
    for (let n = 0; n < guardrailBounds.webhooksPerCallMax; n++) {
      const [who, place] = n % 2 === 0 ? (["admin", "acme"] as const) : (["administrator", "-"] as const);
      expect((await create(fixture, who, place, { name: `n-${n}`, check: webhook })).status).toBe(201);
    }
    for (const [who, place] of [
      ["admin", "acme"],
      ["administrator", "-"],
    ] as const) {
      const refused = await create(fixture, who, place, { name: "more", check: webhook });
      expect(refused).toMatchObject({ status: 409, code: "conflict" });
    }
    expect((await create(fixture, "admin", "acme")).status).toBe(201);
  });

  test("of the config file are read-only, and stay visible when the file no longer declares them", async () => {
    await using fixture = await openTenantFixture();
    const file = { guardrails: [{ ...credentials }], workspaces: [{ slug: "acme", guardrails: [{ ...credentials }] }] };
    await fixture.controlStore.apply(file, "file");
    await fixture.refresh();
    for (const [workspace, who] of [
      ["-", "administrator"],
      ["acme", "admin"],
    ] as const) {
      const own = (await list(fixture, who, workspace)).find(({ inherited }: Fields) => inherited === false);
      const params = { workspace, guardrail: own.id };
      expect(own.managed_by).toBe("file");
      for (const answer of [
        await update(fixture, own.id, { enabled: false }, workspace, who),
        await fixture.call(who, "guardrails.remove", { params }),
      ]) {
        expect(answer).toMatchObject({ status: 409, code: "managed_by_file" });
      }
    }
    expect(rulesOf(fixture)).toHaveLength(2);
    await fixture.controlStore.apply({ workspaces: [{ slug: "acme" }] }, "file");
    await fixture.refresh();
    expect(rulesOf(fixture)).toEqual([]);
    const [suspended] = await list(fixture, "administrator", "-");
    expect(suspended.managed_by).toBe("suspended");
    const params = { ...installation, guardrail: suspended.id };
    expect((await fixture.call("administrator", "guardrails.remove", { params })).status).toBe(200);
  });
});

describe("trying a guardrail", () => {
  const text = "Write to mia@example.com or mia@example.com, not to bob@example.com.";
  const mail = { kind: "personal_data", types: ["email"] } as const;
  const attempt = (fixture: TenantFixture, body: Fields, who: Who = "admin", workspace = "acme") =>
    fixture.call(who, "guardrails.test", { params: { workspace }, body });

  test("returns the findings of a draft and the masked text, and stores nothing", async () => {
    await using fixture = await openTenantFixture();
    const from = (await fixture.audit()).length;
    const { status, body } = await attempt(fixture, { text, check: mail });
    expect(status).toBe(200);
    expect(body.findings[0]).toEqual({ type: "email", start: 9, end: 24 });
    expect(body).toMatchObject({ total: 3, masked: "Write to ‹EMAIL_1› or ‹EMAIL_1›, not to ‹EMAIL_2›." });
    expect((await attempt(fixture, { text: "Hello", check: mail })).body).toEqual({
      ...{ findings: [], total: 0, masked: "Hello" },
    });
    expect(await fixture.audit()).toHaveLength(from);
    expect(rulesOf(fixture)).toEqual([]);
  });

  test("uses a stored guardrail that applies in the workspace", async () => {
    await using fixture = await openTenantFixture();
    const own = (await create(fixture, "admin", "acme", { check: mail })).body;
    const above = (await create(fixture, "administrator", "-", { check: { kind: "words", words: ["Bob"] } })).body;
    expect((await attempt(fixture, { text, guardrail: own.id })).body.total).toBe(3);
    expect((await attempt(fixture, { text, guardrail: above.id })).body).toMatchObject({ total: 1 });
    expect((await attempt(fixture, { text, guardrail: own.id }, "stranger", "other")).status).toBe(404);
    expect((await attempt(fixture, { text, guardrail: above.id }, "administrator", "-")).status).toBe(200);
  });

  test("is for admins, and for checks that the gateway does itself", async () => {
    await using fixture = await openTenantFixture();
    for (const who of ["viewer", "member"] as const) {
      expect((await attempt(fixture, { text, check: mail }, who)).status).toBe(403);
    }
    const broken = { kind: "patterns", patterns: [{ name: "id", regex: "(?=a)b" }] };
    for (const [body, param] of [
      [{ text }, "check"],
      [{ text, check: mail, guardrail: "grl_1" }, "check"],
      [{ text, check: webhook }, "check.kind"],
      [{ text: "x".repeat(guardrailTestCharsMax + 1), check: mail }, "text"],
      [{ text, check: broken }, "check.patterns.0.regex"],
    ] as const) {
      expect(await attempt(fixture, body)).toMatchObject({ status: 400, code: "invalid_request", param });
    }
  });

  test("lists a bounded number of findings, and counts them all", async () => {
    await using fixture = await openTenantFixture();
    const check = { kind: "words", words: ["no"] };
    const { body } = await attempt(fixture, { text: "no ".repeat(700), check });
    expect([body.findings.length, body.total]).toEqual([guardrailTestFindingsMax, 700]);
  });
});

describe("deleting what a guardrail names", () => {
  test("takes a group out of it, and disables it instead of widening it", async () => {
    await using fixture = await openTenantFixture();
    const main = groupOf(fixture, fixture.acme.id);
    const group = (await fixture.call("admin", "groups.create", { params: acme, body: { name: "batch" } })).body;
    const both = (await create(fixture, "admin", "acme", { name: "both", groups: [main, group.id] })).body;
    const only = (await create(fixture, "administrator", "-", { name: "only", groups: [group.id] })).body;
    const from = (await fixture.audit()).at(-1)?.seq ?? 0;
    const params = { ...acme, group: "batch" };
    expect((await fixture.call("admin", "groups.remove", { params })).status).toBe(200);
    expect(rulesOf(fixture)).toMatchObject([{ id: both.id, groups: [main] }]);
    const rows = (await fixture.audit(from)).map(({ object, after }) => [object, JSON.parse(after ?? "{}").enabled]);
    expect(rows).toContainEqual(["guardrail only", false]);
    const [left] = await list(fixture, "administrator", "-");
    expect(left).toMatchObject({ id: only.id, enabled: false, all_calls: false, groups: [group.id] });
    const again = await update(fixture, only.id, { enabled: true }, "-", "administrator");
    expect(again).toMatchObject({ status: 400, param: "groups.0" });
    const renamed = await update(fixture, only.id, { name: "renamed" }, "-", "administrator");
    expect(renamed.status).toBe(200);
    const everywhere = await update(fixture, only.id, { enabled: true, groups: [] }, "-", "administrator");
    expect(everywhere.body).toMatchObject({ enabled: true, all_calls: true });
  });

  test("deletes a workspace's own guardrails with it, and disables guardrails of the installation that name only it", async () => {
    await using fixture = await openTenantFixture();
    const { key } = (await fixture.makeKey("stranger", { name: "ci" }, "other")).body;
    await create(fixture, "stranger", "other", { name: "own" });
    await create(fixture, "administrator", "-", { name: "one", workspaces: [fixture.other.id], keys: [key.id] });
    const all = [fixture.acme.id, fixture.other.id];
    const two = (await create(fixture, "administrator", "-", { name: "two", workspaces: all })).body;
    await fixture.call("stranger", "keys.revoke", { params: { workspace: "other", key: key.id } });
    const params = { workspace: "other" };
    expect((await fixture.call("administrator", "workspaces.remove", { params })).status).toBe(200);
    expect(rulesOf(fixture)).toMatchObject([{ id: two.id, workspaces: [fixture.acme.id] }]);
    const seen = await list(fixture, "administrator", "-");
    expect(seen.map(({ name, enabled }: Fields) => [name, enabled])).toEqual([
      ["one", false],
      ["two", true],
    ]);
  });

  test("refuses to delete a model that it calls", async () => {
    await using fixture = await openTenantFixture();
    const source = { actor: "test", ip: null };
    await fixture.controlStore.createProvider({ id: "own", kind: "openai" }, source);
    await fixture.controlStore.createModel({ name: "chat", deployments: [{ provider: "own" }] }, source);
    await fixture.controlStore.createModel(
      { name: "guard", type: "moderation", deployments: [{ provider: "own" }] },
      source,
    );
    const check = { kind: "moderation", model: "guard" };
    expect(await create(fixture, "admin", "acme", { check: { ...check, model: "chat" } })).toMatchObject({
      param: "check.model",
    });
    expect((await create(fixture, "admin", "acme", { check })).status).toBe(201);
    await expect(fixture.controlStore.removeModel("guard", source)).rejects.toThrow(
      "Guardrails use the model guard: no-credentials.",
    );
  });
});
