import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { wholeText } from "../conformance/store-fixture.ts";
import { type ModelsFixture, openModelsFixture } from "./models-fixture.ts";

const canary = "sk-canary-4711-of-the-provider";
const change = (fixture: ModelsFixture, provider: string, body: Readonly<Record<string, unknown>>) =>
  fixture.call("administrator", "providers.update", { params: { provider }, body });
const stored = async (fixture: ModelsFixture, id: string) =>
  (await fixture.controlStore.configSnapshot()).providers.get(id);

describe("a provider of the console", () => {
  test("is created with its secret, shown without it, and is in the config snapshot at once", async () => {
    await using fixture = await openModelsFixture();
    const made = await fixture.makeProvider("main", { api_key: canary, timeouts: { connect_ms: 700 } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      id: "main",
      kind: "openai-compatible",
      base_url: fixture.simulator.url,
      has_api_key: true,
      allow_private_network: true,
      timeouts: { connect_ms: 700 },
      disconnect: null,
      enabled: true,
      settings: {},
      deployments: 0,
      health: { state: "unknown", breaker: null },
      managed_by: "console",
    });
    expect((await stored(fixture, "main"))?.secret?.reveal()).toBe(canary);
    const shown = await fixture.call("administrator", "providers.show", { params: { provider: "main" } });
    const list = await fixture.call("administrator", "providers.list");
    expect(list.body.data).toEqual([shown.body]);
    expect(JSON.stringify([made.body, shown.body, list.body])).not.toContain(canary);
    expect(await wholeText(fixture.database)).not.toContain(canary);
  });

  test("keeps omitted fields, and leaves an audit row only when something changed", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main", { api_key: canary, disconnect: "drain", timeouts: { idle_ms: 5_000 } });
    const before = (await fixture.audit()).length;
    expect((await change(fixture, "main", {})).status).toBe(200);
    expect((await fixture.audit()).length).toBe(before);
    const changed = await change(fixture, "main", { enabled: false });
    expect(changed.body).toMatchObject({ enabled: false, disconnect: "drain", timeouts: { idle_ms: 5_000 } });
    expect((await stored(fixture, "main"))?.secret?.reveal()).toBe(canary);
    const [row] = (await fixture.audit()).slice(before);
    expect(row).toMatchObject({
      actor: "administrator@example.com",
      ip: "192.0.2.1",
      action: "update",
      object: "provider main",
      workspace_id: null,
    });
    expect(JSON.parse(row?.after ?? "")).toMatchObject({ enabled: false, api_key: "[redacted]" });
    expect((await change(fixture, "main", { disconnect: null })).body.disconnect).toBeNull();
  });

  test("loses its secret when its address changes, unless a new one is sent", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main", { api_key: canary });
    const moved = await change(fixture, "main", { base_url: "https://elsewhere.example/v1" });
    expect(moved.body).toMatchObject({ has_api_key: false, base_url: "https://elsewhere.example/v1" });
    expect((await stored(fixture, "main"))?.secret).toBeNull();
    await change(fixture, "main", { base_url: "https://third.example/v1", api_key: "sk-given-again" });
    expect((await stored(fixture, "main"))?.secret?.reveal()).toBe("sk-given-again");
    expect((await change(fixture, "main", { api_key: null })).body.has_api_key).toBe(false);
    expect(await change(fixture, "main", { api_key: "[redacted]" })).toMatchObject({ status: 400, param: "api_key" });
  });

  test("is refused with the field that is wrong", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    const wrong: [Record<string, unknown>, number, string | null][] = [
      [{ id: "main" }, 409, "id"],
      [{ id: "a b" }, 400, "id"],
      [{ kind: "opnai" }, 400, "kind"],
      [{ kind: "opnai", settings: { region: "x" } }, 400, "kind"],
      [{ base_url: null }, 400, "base_url"],
      [{ base_url: "ftp://x.example" }, 400, "base_url"],
      [{ base_url: "https://user:word@x.example/v1" }, 400, "base_url"],
      [{ kind: "bedrock", settings: {} }, 400, "settings"],
      [{ kind: "bedrock", settings: { region: "a b" } }, 400, "settings"],
      [{ kind: "bedrock", settings: { region: "eu-west-1", regoin: "x" } }, 400, "settings.regoin"],
      [{ kind: "bedrock", settings: { region: 5 } }, 400, "settings.region"],
      [{ kind: "ark", settings: { mark_tasks: "yes" } }, 400, "settings.mark_tasks"],
      [{ settings: { endpoints: ["chats"] } }, 400, "settings"],
      [{ settings: { endpoints: "chat" } }, 400, "settings.endpoints"],
      [{ kind: "ark", settings: { secret_access_key: "[redacted]" } }, 400, "settings.secret_access_key"],
      [{ timeouts: { connect_ms: 0 } }, 400, "timeouts.connect_ms"],
      [{ surprise: true }, 400, null],
    ];
    for (const [fields, status, param] of wrong) {
      const answer = await fixture.makeProvider("new", fields);
      expect([fields, answer.status, answer.param]).toEqual([fields, status, param]);
    }
    expect((await change(fixture, "nobody", {})).code).toBe("not_found");
    expect((await fixture.call("administrator", "providers.list")).body.data).toHaveLength(1);
  });

  test("is removed when no model uses it, and otherwise the error names the models", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    await fixture.makeModel("acme/one");
    const remove = () => fixture.call("administrator", "providers.remove", { params: { provider: "main" } });
    const refused = await remove();
    expect([refused.status, refused.code]).toEqual([409, "conflict"]);
    expect(refused.body.error.message).toContain("acme/one");
    await fixture.call("administrator", "models.remove", { params: { model: "acme/one" } });
    expect((await remove()).status).toBe(200);
    expect((await remove()).code).toBe("not_found");
  });

  test("from the config file is shown but cannot be changed", async () => {
    await using fixture = await openModelsFixture();
    await fixture.controlStore.apply({ providers: [{ id: "filed", kind: "openai", api_key: canary }] }, "file");
    const params = { provider: "filed" };
    expect((await fixture.call("administrator", "providers.show", { params })).body.managed_by).toBe("file");
    expect((await change(fixture, "filed", { enabled: false })).code).toBe("managed_by_file");
    expect((await fixture.call("administrator", "providers.remove", { params })).code).toBe("managed_by_file");
    expect((await stored(fixture, "filed"))?.secret?.reveal()).toBe(canary);
  });

  test("is visible to administrators only", async () => {
    await using fixture = await openModelsFixture();
    for (const who of ["owner", "member", "newcomer"] as const) {
      expect((await fixture.call(who, "providers.list")).code).toBe("forbidden");
    }
    expect((await fixture.call("nobody", "providers.list")).code).toBe("not_signed_in");
  });
});

describe("secrets in a provider's settings", () => {
  const keys = { access_key_id: "AKIDEXAMPLE", secret_access_key: canary, session_token: "canary-token-4712" };
  const settingsOf = async (fixture: ModelsFixture) => (await stored(fixture, "ark"))?.settings;

  async function ark() {
    const fixture = await openModelsFixture();
    const settings = { ...keys, project_name: "films" };
    const made = await fixture.makeProvider("ark", { kind: "ark", api_key: "sk-ark", settings });
    return { fixture, made };
  }

  test("are shown as [redacted], other settings as they are", async () => {
    const { fixture, made } = await ark();
    await using _ = fixture;
    expect(made.body.settings).toEqual({
      access_key_id: "AKIDEXAMPLE",
      secret_access_key: "[redacted]",
      session_token: "[redacted]",
      project_name: "films",
    });
    const text = JSON.stringify(await fixture.audit()) + (await wholeText(fixture.database));
    expect(text).not.toContain(canary);
    expect(text).not.toContain("canary-token");
  });

  test("stay when [redacted] is sent back or settings are omitted, and go when they are left out", async () => {
    const { fixture, made } = await ark();
    await using _ = fixture;
    await change(fixture, "ark", { settings: { ...made.body.settings, project_name: "clips" } });
    expect(await settingsOf(fixture)).toEqual({ ...keys, project_name: "clips" });
    await change(fixture, "ark", { enabled: false });
    expect(await settingsOf(fixture)).toEqual({ ...keys, project_name: "clips" });
    await change(fixture, "ark", { settings: { project_name: "clips", session_token: null, access_key_id: "" } });
    expect(await settingsOf(fixture)).toEqual({ project_name: "clips" });
  });

  test("do not follow the provider to another address", async () => {
    const { fixture, made } = await ark();
    await using _ = fixture;
    for (const body of [
      { base_url: "https://thief.example/api/v3" },
      { base_url: "https://thief.example/api/v3", settings: made.body.settings },
      { settings: { ...made.body.settings, openapi_url: "https://thief.example/" } },
    ]) {
      const refused = await change(fixture, "ark", body);
      expect([refused.status, refused.param]).toEqual([400, "settings.secret_access_key"]);
      expect(refused.body.error.message).toContain("base URL changes, so send");
    }
    expect(await settingsOf(fixture)).toEqual({ ...keys, project_name: "films" });
    const credentials = { access_key_id: "AKOTHER", secret_access_key: "another-secret", session_token: "[redacted]" };
    const moved = await change(fixture, "ark", { base_url: "https://other.example/api/v3", settings: credentials });
    expect(moved.status).toBe(200);
    expect(await settingsOf(fixture)).toEqual({ access_key_id: "AKOTHER", secret_access_key: "another-secret" });
  });

  test("a setting that no form knows is never shown, and stays when it is sent back", async () => {
    await using fixture = await openModelsFixture();
    const settings = { own_header: "canary-own", nested: { password: "canary-nested" } };
    const provider = { id: "odd", kind: "openai", settings };
    await fixture.controlStore.seed({ providers: [provider] }, "first start");
    const shown = await fixture.call("administrator", "providers.show", { params: { provider: "odd" } });
    expect(shown.body.settings).toEqual({ own_header: "[redacted]", nested: "[redacted]" });
    await change(fixture, "odd", { settings: { ...shown.body.settings, endpoints: ["chat"] } });
    expect((await stored(fixture, "odd"))?.settings).toEqual({ ...settings, endpoints: ["chat"] });
  });
});

describe("base URL of a provider type", () => {
  test("follows its settings, and can be set and reset", async () => {
    await using fixture = await openModelsFixture();
    const settings = { region: "eu-west-1" };
    const made = await fixture.makeProvider("aws", { kind: "bedrock", base_url: null, api_key: canary, settings });
    expect(made.body.base_url).toBe("https://bedrock-runtime.eu-west-1.amazonaws.com");
    const moved = await change(fixture, "aws", { settings: { region: "us-east-1" } });
    expect(moved.body).toMatchObject({
      base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",
      has_api_key: false,
    });
    await change(fixture, "aws", { base_url: "https://vpce.example" });
    expect((await change(fixture, "aws", { settings })).body.base_url).toBe("https://vpce.example");
    expect((await change(fixture, "aws", { base_url: null })).body.base_url).toBe(
      "https://bedrock-runtime.eu-west-1.amazonaws.com",
    );
  });
});

describe("provider health", () => {
  test("combines its deployments: the breaker, the last hour, and nothing without data", async () => {
    await using fixture = await openModelsFixture();
    await fixture.makeProvider("main");
    await fixture.makeModel("one");
    await fixture.makeModel("two");
    const health = async () => (await fixture.call("administrator", "providers.list")).body.data[0].health;
    expect(await health()).toMatchObject({ state: "unknown", breaker: null, last_hour: { attempts: 0, failed: 0 } });
    const configSnapshot = await fixture.controlStore.configSnapshot();
    const deployment = (name: string) => configSnapshot.models.get(name)?.deployments[0]?.id ?? "";
    fixture.figures.uses = [{ deployment: deployment("one"), provider: "main", attempts: 9, failed: 2 }];
    expect(await health()).toMatchObject({ state: "healthy", last_hour: { attempts: 9, failed: 2 } });
    fixture.figures.uses = [{ deployment: deployment("one"), provider: "main", attempts: 41, failed: 12 }];
    expect(await health()).toMatchObject({ state: "degraded", last_hour: { attempts: 41, failed: 12 } });
    fixture.figures.uses = [{ deployment: deployment("one"), provider: "main", attempts: 9, failed: 2 }];
    const broken = new Failure("upstream_error", "broken", { unhealthy: true, retry: "other" });
    for (let count = 0; count < 5; count++) call(fixture, configSnapshot, "one", broken);
    expect(await health()).toMatchObject({ state: "down", breaker: "open" });
    call(fixture, configSnapshot, "two", "ok");
    expect(await health()).toMatchObject({ state: "unhealthy", breaker: "open", in_flight: 0 });
    const models = (await fixture.call("administrator", "models.list")).body.data;
    expect(models.map((model: { deployments: { health: object }[] }) => model.deployments[0]?.health)).toMatchObject([
      { state: "down", last_hour: { attempts: 9, failed: 2 } },
      { state: "healthy", last_hour: { attempts: 0, failed: 0 } },
    ]);
    fixture.figures.uses = new Failure("request_timeout", "The report took too long.");
    expect(await health()).toMatchObject({ state: "unhealthy", last_hour: null });
  });
});

type ConfigSnapshot = Awaited<ReturnType<ModelsFixture["controlStore"]["configSnapshot"]>>;

function call(fixture: ModelsFixture, configSnapshot: ConfigSnapshot, name: string, result: "ok" | Failure): void {
  const model = configSnapshot.models.get(name);
  if (model === undefined) throw new Error(`no model ${name}`);
  fixture.router.plan([model]).next(null)?.end(result, 120);
}
