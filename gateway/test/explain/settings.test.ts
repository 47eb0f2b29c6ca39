import { expect, test } from "bun:test";
import { type ConfigFile, configSchema, type KeyConfig } from "@sluice/contract";
import { explainedAges } from "../../src/main/upkeep.ts";
import { aliceKey, startGateway } from "../started-gateway.ts";

const dayMs = 86_400_000;

test("the file sets the capture of a key, and removes it when left out", async () => {
  const gateway = await startGateway();
  const { controlStore } = gateway.control;
  const apply = async (key: Partial<KeyConfig>) => {
    const file: ConfigFile = { workspaces: [{ slug: "acme", keys: [{ name: "alice", secret: aliceKey, ...key }] }] };
    await controlStore.apply(file, "test");
    return (await controlStore.listKeys(null))[0]?.capture;
  };
  try {
    expect(await apply({})).toBe("none");
    expect(await apply({ capture: "bodies" })).toBe("bodies");
    expect(await apply({ capture: "headers" })).toBe("headers");
    expect(await apply({})).toBe("none");
    const rows = await gateway.control.database.kysely
      .selectFrom("audit_log")
      .select(["before", "after"])
      .where("object", "=", "key acme/alice")
      .where("action", "=", "update")
      .execute();
    const captures = rows.map(({ before, after }) => [before, after].map((view) => JSON.parse(view ?? "{}").capture));
    expect(captures.slice(-3)).toEqual([
      ["none", "bodies"],
      ["bodies", "headers"],
      ["headers", "none"],
    ]);
  } finally {
    await gateway.stop();
  }
});

test("keeps explanations for 30 days and captures for 7 or as set, but no longer than the ledger", async () => {
  const now = 1_000 * dayMs;
  const defaultGateway = await startGateway();
  expect(explainedAges(defaultGateway.gateway.configSnapshot.current.settings, now)).toEqual({
    explanationsBefore: now - 30 * dayMs,
    capturesBefore: now - 7 * dayMs,
    now,
  });
  await defaultGateway.stop();
  const shortGateway = await startGateway({
    settings: { ledger: { retention_days: 3 }, explanations: { retention_days: 90 }, captures: { retention_days: 1 } },
  });
  expect(explainedAges(shortGateway.gateway.configSnapshot.current.settings, now)).toEqual({
    explanationsBefore: now - 3 * dayMs,
    capturesBefore: now - dayMs,
    now,
  });
  await shortGateway.stop();
});

test.each([
  [{ workspaces: [{ slug: "acme", keys: [{ name: "a", capture: "all" }] }] }, "workspaces.0.keys.0.capture"],
  [{ settings: { captures: { retention_days: 0 } } }, "settings.captures.retention_days"],
  [{ settings: { captures: { retention_days: 366 } } }, "settings.captures.retention_days"],
  [{ settings: { explanations: { days: 3 } } }, "settings.explanations"],
  [{ settings: { audit: { retention_days: 89 } } }, "settings.audit.retention_days"],
])("refuses %j and names the setting", (file, place) => {
  expect(configSchema.safeParse(file).error?.issues.map(({ path }) => path.join("."))).toEqual([place]);
});
