import { describe, expect, test } from "bun:test";
import { wholeText } from "../conformance/store-fixture.ts";
import { type ModelsFixture, openModelsFixture } from "./models-fixture.ts";

const show = async (fixture: ModelsFixture) => (await fixture.call("administrator", "settings.show")).body;
const change = (fixture: ModelsFixture, body: Readonly<Record<string, unknown>>) =>
  fixture.call("administrator", "settings.update", { body });

describe("settings", () => {
  test("are shown with their defaults, and a change of one keeps the others", async () => {
    await using fixture = await openModelsFixture();
    const before = await show(fixture);
    expect(before).toMatchObject({
      settings: {
        log_bodies: "none",
        ledger: { durability: "disk", retention_days: 400 },
        disconnect: { default: "cancel" },
        video: { copy_results: false },
        drain_timeout_ms: 120_000,
        keys: { stale_max: 3_600 },
      },
      managed_by_file: [],
      oidc: [],
      mail: { configured: false, from: null },
      ledger_export: { keys: null, copied_until: null },
    });
    const after = await change(fixture, { ledger: { retention_days: 30 }, video: { copy_results: true } });
    expect(after.body.settings).toEqual({
      ...before.settings,
      ledger: { durability: "disk", retention_days: 30 },
      video: { copy_results: true },
    });
    expect(await show(fixture)).toEqual(after.body);
    expect((await fixture.controlStore.configSnapshot()).settings).toMatchObject({
      "ledger.retention_days": 30,
      "video.copy_results": true,
    });
    const rows = (await fixture.audit()).filter((row) => row.object.startsWith("setting "));
    expect(rows.map((row) => [row.actor, row.action, row.object])).toEqual([
      ["administrator@example.com", "create", "setting ledger.retention_days"],
      ["administrator@example.com", "create", "setting video.copy_results"],
    ]);
  });

  test("include an announcement of at most 500 characters", async () => {
    await using fixture = await openModelsFixture();
    const announce = (announcement: string) => change(fixture, { console: { announcement } });
    expect((await announce("a".repeat(501))).status).toBe(400);
    expect((await announce("a".repeat(500))).body.settings.console.announcement).toBe("a".repeat(500));
  });

  test("include a name, an accent color and a PNG logo, which also visitors see", async () => {
    await using fixture = await openModelsFixture();
    const logo = `data:image/png;base64,${png(64, 32).toString("base64")}`;
    const brand = { name: "Acme AI", accent: "#7048E8", logo };
    expect((await change(fixture, { console: brand })).body.settings.console).toMatchObject(brand);
    const snapshot = await fixture.controlStore.configSnapshot();
    expect(snapshot.settings).toMatchObject({ "console.name": "Acme AI", "console.logo": logo });
    const wrong = [
      { name: "a".repeat(41) },
      { name: "Acme\nBcc: eve@example.com" },
      { accent: "red" },
      { accent: "#fff" },
      { accent: "#7048e8;}" },
      { logo: "https://example.com/logo.png" },
      { logo: `data:image/svg+xml;base64,${btoa("<svg onload='x'/>")}` },
      { logo: `data:image/png;base64,${btoa("<svg xmlns='http://www.w3.org/2000/svg'/>")}` },
      { logo: `data:image/png;base64,${png(2_000, 32).toString("base64")}` },
      { logo: `data:image/png;base64,${png(32, 0).toString("base64")}` },
      { logo: `data:image/png;base64,${Buffer.concat([png(64, 32), Buffer.alloc(25_000)]).toString("base64")}` },
      { logo: "data:image/png;base64,???" },
    ];
    for (const some of wrong) expect((await change(fixture, { console: some })).status, JSON.stringify(some)).toBe(400);
    expect((await change(fixture, { console: { logo: "" } })).body.settings.console.logo).toBe("");
  });

  test("change nothing when sent back as shown, including those of the config file", async () => {
    await using fixture = await openModelsFixture();
    await fixture.controlStore.apply({ settings: { ledger: { durability: "strict" }, drain_timeout_ms: 500 } }, "file");
    const { settings, managed_by_file } = await show(fixture);
    expect(managed_by_file).toEqual(["drain_timeout_ms", "ledger.durability"]);
    await change(fixture, settings);
    const rows = (await fixture.audit()).length;
    expect((await change(fixture, settings)).status).toBe(200);
    expect((await fixture.audit()).length).toBe(rows);
    const refused = await change(fixture, { video: { copy_results: true }, ledger: { durability: "disk" } });
    expect([refused.status, refused.code]).toEqual([409, "managed_by_file"]);
    expect((await show(fixture)).settings.video.copy_results).toBe(false);
  });

  test("of the console are replaced by a config file that sets them", async () => {
    await using fixture = await openModelsFixture();
    await change(fixture, { drain_timeout_ms: 700 });
    await fixture.controlStore.apply({ settings: { drain_timeout_ms: 900 } }, "file");
    expect(await show(fixture)).toMatchObject({
      settings: { drain_timeout_ms: 900 },
      managed_by_file: ["drain_timeout_ms"],
    });
  });

  test("show the ledger export's target, which is replaced as a whole and removed with null", async () => {
    await using fixture = await openModelsFixture();
    const place = { bucket: "acme-usage", prefix: "sluice/", region: "eu-central-1" };
    const made = await change(fixture, { ledger: { export: place } });
    expect(made.body.settings.ledger).toEqual({ durability: "disk", retention_days: 400, export: place });
    const atMinio = { bucket: "acme-usage", endpoint: "http://minio:9000" };
    expect((await change(fixture, { ledger: { export: atMinio } })).body.settings.ledger.export).toEqual(atMinio);
    expect((await fixture.controlStore.configSnapshot()).settings["ledger.export"]).toEqual({
      ...{ bucket: "acme-usage", prefix: "", region: "us-east-1", endpoint: "http://minio:9000", formats: ["jsonl"] },
    });
    const wrong = await change(fixture, { ledger: { export: { bucket: "acme-usage", endpoint: "minio:9000" } } });
    expect([wrong.status, wrong.param]).toEqual([400, "ledger.export.endpoint"]);
    const gone = await change(fixture, { ledger: { export: null } });
    expect(gone.body.settings.ledger).toEqual({ durability: "disk", retention_days: 400 });
    expect((await fixture.controlStore.configSnapshot()).settings["ledger.export"]).toBeNull();
    await change(fixture, { ledger: { export: null } });
    const rows = (await fixture.audit()).filter((row) => row.object === "setting ledger.export");
    expect(rows.map((row) => row.action)).toEqual(["create", "update", "remove"]);
    await fixture.controlStore.apply({ settings: { ledger: { export: place } } }, "file");
    expect((await change(fixture, { ledger: { export: null } })).code).toBe("managed_by_file");
  });

  test("out of bounds or unknown are refused by name", async () => {
    await using fixture = await openModelsFixture();
    expect((await change(fixture, { ledger: { retention_days: 0 } })).param).toBe("ledger.retention_days");
    expect((await change(fixture, { ledger: { durability: "disc" } })).param).toBe("ledger.durability");
    expect((await change(fixture, { legder: {} })).status).toBe(400);
    // With SQLite there is no other disk for intents.
    const remote = await change(fixture, { ledger: { durability: "remote" } });
    expect([remote.status, remote.param]).toEqual([400, "ledger.durability"]);
    expect((await fixture.call("owner", "settings.update", { body: {} })).code).toBe("forbidden");
  });

  test("need an administrator's recent sign-in, so that an open session cannot redirect the ledger export", async () => {
    await using fixture = await openModelsFixture();
    const body = { ledger: { retention_days: 1 } };
    expect((await fixture.call({ stale: "administrator" }, "settings.update", { body })).code).toBe("confirm_sign_in");
    expect((await show(fixture)).settings.ledger.retention_days).toBe(400);
  });
});

describe("single sign-on", () => {
  const canary = "canary-client-secret-4714";
  const account = {
    name: "Company",
    issuer: "https://id.example.com",
    client_id: "sluice",
    client_secret: canary,
    allowed_domains: ["Example.com"],
  };
  const put = (fixture: ModelsFixture, id: string, body: Readonly<Record<string, unknown>>) =>
    fixture.call("administrator", "settings.putOidc", { params: { account: id }, body });

  test("accounts are encrypted, passed to sign-in at once, and shown with the callback URL for the issuer", async () => {
    await using fixture = await openModelsFixture();
    const made = await put(fixture, "company", account);
    expect(made.body.oidc).toEqual([
      {
        id: "company",
        name: "Company",
        issuer: "https://id.example.com",
        client_id: "sluice",
        allowed_domains: ["example.com"],
        second_factor_trusted: false,
        suspended: false,
        scopes: [],
        offline_access: false,
        recheck_minutes: 15,
        grace_hours: 24,
        directory_claim: null,
        has_secret: true,
        callback_url: "http://localhost:8787/api/auth/callback/company",
      },
    ]);
    expect(fixture.oidc.accounts.map((each) => [each.id, each.clientSecret.reveal()])).toEqual([["company", canary]]);
    expect(JSON.stringify([made.body, await fixture.audit()])).not.toContain(canary);
    expect(await wholeText(fixture.database)).not.toContain(canary);
    // Applying a config file does not change them.
    await fixture.controlStore.apply({}, "file");
    expect((await show(fixture)).oidc).toHaveLength(1);
    const removed = await fixture.call("administrator", "settings.removeOidc", { params: { account: "company" } });
    expect([removed.body.oidc, fixture.oidc.accounts]).toEqual([[], []]);
    const again = await fixture.call("administrator", "settings.removeOidc", { params: { account: "company" } });
    expect(again.code).toBe("not_found");
  });

  test("an omitted secret stays, but never for another issuer", async () => {
    await using fixture = await openModelsFixture();
    const { client_secret: _secret, ...rest } = account;
    expect(await put(fixture, "company", rest)).toMatchObject({ status: 400, param: "client_secret" });
    await put(fixture, "company", account);
    await put(fixture, "company", { ...rest, name: "Firm" });
    expect(fixture.oidc.accounts[0]).toMatchObject({ name: "Firm" });
    expect(fixture.oidc.accounts[0]?.clientSecret.reveal()).toBe(canary);
    const moved = await put(fixture, "company", { ...rest, issuer: "https://thief.example" });
    expect([moved.status, moved.param]).toEqual([400, "client_secret"]);
    expect((await show(fixture)).oidc[0].issuer).toBe("https://id.example.com");
    const rows = (await fixture.audit()).length;
    await put(fixture, "company", { ...rest, name: "Firm" });
    expect((await fixture.audit()).length).toBe(rows);
  });

  test("is refused with the field that is wrong, and when the sign-in is old", async () => {
    await using fixture = await openModelsFixture();
    const wrong: [string, Record<string, unknown>, string][] = [
      ["credential", {}, "account"],
      ["Not An Id", {}, "account"],
      ["x", { issuer: "http://id.example.com" }, "issuer"],
      ["x", { issuer: "https://user:word@id.example.com" }, "issuer"],
      ["x", { issuer: "https://id.example.com?x=1" }, "issuer"],
      ["x", { issuer: "no address" }, "issuer"],
      ["x", { allowed_domains: ["@example.com"] }, "allowed_domains"],
      ["x", { allowed_domains: ["*"] }, "allowed_domains"],
      ["x", { client_secret: "" }, "client_secret"],
    ];
    for (const [id, fields, param] of wrong) {
      const answer = await put(fixture, id, { ...account, ...fields });
      expect([id, fields, answer.status, answer.param]).toEqual([id, fields, 400, param]);
    }
    const stale = await fixture.call({ stale: "administrator" }, "settings.putOidc", {
      params: { account: "x" },
      body: account,
    });
    expect(stale.code).toBe("confirm_sign_in");
    expect((await show(fixture)).oidc).toEqual([]);
  });
});

/** The beginning of a PNG image with these sides, https://www.w3.org/TR/png-3/#5PNG-file-signature. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
