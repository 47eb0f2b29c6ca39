import { beforeEach, expect, test } from "bun:test";
import { type ConfigSnapshot, type Provider, Secret } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { providerOf } from "../../test/provider-fixture.ts";
import { transportOf } from "../../test/sending-transport.ts";
import { workloadOf } from "../../test/workload-fixture.ts";
import { SecretReferences } from "./index.ts";

const path = "/run/secrets/openai";
let clock = new FakeClock();
let files: Record<string, string> = {};
let gate: Promise<void> = Promise.resolve();
let changes = 0;
let logged: string[] = [];
let references: SecretReferences;
beforeEach(() => {
  clock = new FakeClock();
  files = { [path]: "sk-1\n" };
  gate = Promise.resolve();
  changes = 0;
  logged = [];
  const workload = workloadOf({ SLUICE_SECRET_REFERENCES: "file:///run/secrets/" });
  const readFile = async (name: string) => {
    await gate;
    const text = files[name];
    if (text === undefined) throw new Error("does not exist");
    return text;
  };
  const transport = transportOf(() => Promise.reject(new Error("nothing is sent")));
  references = new SecretReferences({ transport, clock, workload: { ...workload, readFile } });
});

function follow(): void {
  references.follow(
    { log: (_level, message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`) },
    () => changes++,
  );
}

const account = (key: string, settings: Readonly<Record<string, unknown>> = {}): Provider =>
  providerOf("openai", { secret: new Secret(key), settings });

/** A snapshot with one model at each provider. */
function snapshotOf(...providers: readonly Provider[]): ConfigSnapshot {
  const deployments = providers.map((provider, index) => ({ id: `dep_${index}`, provider, enabled: true }));
  const snapshot = {
    providers: new Map(providers.map((provider) => [provider.id, provider])),
    models: new Map([["m", { name: "m", deployments }]]),
  };
  return snapshot as unknown as ConfigSnapshot;
}

async function keyOf(provider: Provider): Promise<string> {
  const { models, providers } = await references.resolve(snapshotOf(provider));
  const resolved = providers.get(provider.id);
  expect(models.get("m")?.deployments[0]?.provider).toBe(resolved as Provider);
  return resolved?.unusable ?? resolved?.secret?.reveal() ?? "none";
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
};

test("a configuration without references stays as it is", async () => {
  const snapshot = snapshotOf(account("sk-stored"));
  expect(await references.resolve(snapshot)).toBe(snapshot);
});

test("puts secrets in place of references, also in secret settings", async () => {
  const secret = { client_key: `file://${path}`, identity_file: "file:///run/secrets/other" };
  const { providers } = await references.resolve(snapshotOf(account(`file://${path}`, secret)));
  const [provider] = providers.values();
  expect([provider?.secret?.reveal(), provider?.settings["client_key"]]).toEqual(["sk-1", "sk-1"]);
  expect(provider?.settings["identity_file"]).toBe("file:///run/secrets/other");
});

test("reads every five minutes, and reports changed values only", async () => {
  follow();
  expect(await keyOf(account(`file://${path}`))).toBe("sk-1");
  clock.advance(300_000);
  await settled();
  expect(changes).toBe(0);
  files[path] = "sk-2";
  clock.advance(310_000);
  await settled();
  expect([changes, await keyOf(account(`file://${path}`))]).toEqual([1, "sk-2"]);
});

test("keeps the last value while a secret cannot be read, and counts and logs it", async () => {
  follow();
  await keyOf(account(`file://${path}`));
  files = {};
  clock.advance(310_000);
  await settled();
  expect([await keyOf(account(`file://${path}`)), references.numbers]).toEqual([
    "sk-1",
    { failing: 1, oldestMs: 310_000 },
  ]);
  expect(logged[0]).toContain("failed to read secret references");
  expect(logged[0]).toContain('"providers":["p"]');
  expect(logged[0]).not.toContain("/run/secrets");
  files[path] = "sk-3";
  clock.advance(40_000);
  await settled();
  expect([await keyOf(account(`file://${path}`)), references.numbers.failing, changes]).toEqual(["sk-3", 0, 1]);
});

test("without a first value the account is unusable, until it can be read", async () => {
  files = {};
  expect(await keyOf(account(`file://${path}`))).toBe("The file of a secret reference does not exist.");
  follow();
  files[path] = "sk-1";
  clock.advance(40_000);
  await settled();
  expect([changes, await keyOf(account(`file://${path}`))]).toEqual([1, "sk-1"]);
});

test("a configuration does not wait for a slow store", async () => {
  follow();
  const slow = Promise.withResolvers<void>();
  gate = slow.promise;
  const resolved = keyOf(account(`file://${path}`));
  await settled();
  clock.advance(5_000);
  expect(await resolved).toContain("was not read yet");
  slow.resolve();
  await settled();
  expect([changes, await keyOf(account(`file://${path}`))]).toEqual([1, "sk-1"]);
});

test("reads a refused secret again, at most every 30 seconds", async () => {
  follow();
  const refused = { ...account("x"), references: [`file://${path}`] };
  await keyOf(account(`file://${path}`));
  files[path] = "sk-2";
  references.refused(refused);
  await settled();
  expect(changes).toBe(0);
  clock.advance(30_000);
  references.refused(refused);
  references.refused(refused);
  await settled();
  expect([changes, await keyOf(account(`file://${path}`))]).toEqual([1, "sk-2"]);
});

test("a secret that its setting cannot use makes the account unusable, without quoting it", async () => {
  files[path] = "ftp://canary.example";
  const { providers } = await references.resolve(snapshotOf(account("sk", { proxy: `file://${path}` })));
  const [provider] = providers.values();
  expect(provider?.unusable).toStartWith("settings.proxy");
  expect(provider?.unusable).not.toContain("canary");
});

test("forgets references that no provider has, and stops", async () => {
  follow();
  await keyOf(account(`file://${path}`));
  files = {};
  await references.resolve(snapshotOf(account("sk-stored")));
  clock.advance(310_000);
  await settled();
  expect([references.numbers, logged]).toEqual([{ failing: 0, oldestMs: 0 }, []]);
  references.close();
  expect(clock.pending).toBe(0);
});
