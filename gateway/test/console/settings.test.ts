import { describe, expect, test } from "bun:test";
import { wholeText } from "../conformance/store-ground.ts";
import { type ModelsGround, openModelsGround } from "./models-ground.ts";

const show = async (ground: ModelsGround) => (await ground.call("administrator", "settings.show")).body;
const change = (ground: ModelsGround, body: Readonly<Record<string, unknown>>) =>
  ground.call("administrator", "settings.update", { body });

describe("settings", () => {
  test("are shown with their defaults, and a change of one keeps the others", async () => {
    await using ground = await openModelsGround();
    const before = await show(ground);
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
    const after = await change(ground, { ledger: { retention_days: 30 }, video: { copy_results: true } });
    expect(after.body.settings).toEqual({
      ...before.settings,
      ledger: { durability: "disk", retention_days: 30 },
      video: { copy_results: true },
    });
    expect(await show(ground)).toEqual(after.body);
    expect((await ground.controlStore.configSnapshot()).settings).toMatchObject({
      "ledger.retention_days": 30,
      "video.copy_results": true,
    });
    const rows = (await ground.audit()).filter((row) => row.object.startsWith("setting "));
    expect(rows.map((row) => [row.actor, row.action, row.object])).toEqual([
      ["administrator@example.com", "create", "setting ledger.retention_days"],
      ["administrator@example.com", "create", "setting video.copy_results"],
    ]);
  });

  test("change nothing when sent back as shown, including those of the config file", async () => {
    await using ground = await openModelsGround();
    await ground.controlStore.apply({ settings: { ledger: { durability: "strict" }, drain_timeout_ms: 500 } }, "file");
    const { settings, managed_by_file } = await show(ground);
    expect(managed_by_file).toEqual(["drain_timeout_ms", "ledger.durability"]);
    await change(ground, settings);
    const rows = (await ground.audit()).length;
    expect((await change(ground, settings)).status).toBe(200);
    expect((await ground.audit()).length).toBe(rows);
    const refused = await change(ground, { video: { copy_results: true }, ledger: { durability: "disk" } });
    expect([refused.status, refused.code]).toEqual([409, "managed_by_file"]);
    expect((await show(ground)).settings.video.copy_results).toBe(false);
  });

  test("of the console are replaced by a config file that sets them", async () => {
    await using ground = await openModelsGround();
    await change(ground, { drain_timeout_ms: 700 });
    await ground.controlStore.apply({ settings: { drain_timeout_ms: 900 } }, "file");
    expect(await show(ground)).toMatchObject({
      settings: { drain_timeout_ms: 900 },
      managed_by_file: ["drain_timeout_ms"],
    });
  });

  test("show the ledger export's target, which is replaced as a whole and removed with null", async () => {
    await using ground = await openModelsGround();
    const place = { bucket: "acme-usage", prefix: "sluice/", region: "eu-central-1" };
    const made = await change(ground, { ledger: { export: place } });
    expect(made.body.settings.ledger).toEqual({ durability: "disk", retention_days: 400, export: place });
    const atMinio = { bucket: "acme-usage", endpoint: "http://minio:9000" };
    expect((await change(ground, { ledger: { export: atMinio } })).body.settings.ledger.export).toEqual(atMinio);
    expect((await ground.controlStore.configSnapshot()).settings["ledger.export"]).toEqual({
      ...{ bucket: "acme-usage", prefix: "", region: "us-east-1", endpoint: "http://minio:9000" },
    });
    const wrong = await change(ground, { ledger: { export: { bucket: "acme-usage", endpoint: "minio:9000" } } });
    expect([wrong.status, wrong.param]).toEqual([400, "ledger.export.endpoint"]);
    const gone = await change(ground, { ledger: { export: null } });
    expect(gone.body.settings.ledger).toEqual({ durability: "disk", retention_days: 400 });
    expect((await ground.controlStore.configSnapshot()).settings["ledger.export"]).toBeNull();
    await change(ground, { ledger: { export: null } });
    const rows = (await ground.audit()).filter((row) => row.object === "setting ledger.export");
    expect(rows.map((row) => row.action)).toEqual(["create", "update", "remove"]);
    await ground.controlStore.apply({ settings: { ledger: { export: place } } }, "file");
    expect((await change(ground, { ledger: { export: null } })).code).toBe("managed_by_file");
  });

  test("out of bounds or unknown are refused by name", async () => {
    await using ground = await openModelsGround();
    expect((await change(ground, { ledger: { retention_days: 0 } })).param).toBe("ledger.retention_days");
    expect((await change(ground, { ledger: { durability: "disc" } })).param).toBe("ledger.durability");
    expect((await change(ground, { legder: {} })).status).toBe(400);
    // With SQLite there is no other disk for intents.
    const remote = await change(ground, { ledger: { durability: "remote" } });
    expect([remote.status, remote.param]).toEqual([400, "ledger.durability"]);
    expect((await ground.call("owner", "settings.update", { body: {} })).code).toBe("forbidden");
  });

  test("need an administrator's recent sign-in, so that an open session cannot redirect the ledger export", async () => {
    await using ground = await openModelsGround();
    const body = { ledger: { retention_days: 1 } };
    expect((await ground.call({ stale: "administrator" }, "settings.update", { body })).code).toBe("confirm_sign_in");
    expect((await show(ground)).settings.ledger.retention_days).toBe(400);
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
  const put = (ground: ModelsGround, id: string, body: Readonly<Record<string, unknown>>) =>
    ground.call("administrator", "settings.putOidc", { params: { account: id }, body });

  test("accounts are encrypted, passed to sign-in at once, and shown with the callback URL for the issuer", async () => {
    await using ground = await openModelsGround();
    const made = await put(ground, "company", account);
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
    expect(ground.oidc.accounts.map((each) => [each.id, each.clientSecret.reveal()])).toEqual([["company", canary]]);
    expect(JSON.stringify([made.body, await ground.audit()])).not.toContain(canary);
    expect(await wholeText(ground.database)).not.toContain(canary);
    // Applying a config file does not change them.
    await ground.controlStore.apply({}, "file");
    expect((await show(ground)).oidc).toHaveLength(1);
    const removed = await ground.call("administrator", "settings.removeOidc", { params: { account: "company" } });
    expect([removed.body.oidc, ground.oidc.accounts]).toEqual([[], []]);
    const again = await ground.call("administrator", "settings.removeOidc", { params: { account: "company" } });
    expect(again.code).toBe("not_found");
  });

  test("an omitted secret stays, but never for another issuer", async () => {
    await using ground = await openModelsGround();
    const { client_secret: _secret, ...rest } = account;
    expect(await put(ground, "company", rest)).toMatchObject({ status: 400, param: "client_secret" });
    await put(ground, "company", account);
    await put(ground, "company", { ...rest, name: "Firm" });
    expect(ground.oidc.accounts[0]).toMatchObject({ name: "Firm" });
    expect(ground.oidc.accounts[0]?.clientSecret.reveal()).toBe(canary);
    const moved = await put(ground, "company", { ...rest, issuer: "https://thief.example" });
    expect([moved.status, moved.param]).toEqual([400, "client_secret"]);
    expect((await show(ground)).oidc[0].issuer).toBe("https://id.example.com");
    const rows = (await ground.audit()).length;
    await put(ground, "company", { ...rest, name: "Firm" });
    expect((await ground.audit()).length).toBe(rows);
  });

  test("is refused with the field that is wrong, and when the sign-in is old", async () => {
    await using ground = await openModelsGround();
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
      const answer = await put(ground, id, { ...account, ...fields });
      expect([id, fields, answer.status, answer.param]).toEqual([id, fields, 400, param]);
    }
    const stale = await ground.call({ stale: "administrator" }, "settings.putOidc", {
      params: { account: "x" },
      body: account,
    });
    expect(stale.code).toBe("confirm_sign_in");
    expect((await show(ground)).oidc).toEqual([]);
  });
});
