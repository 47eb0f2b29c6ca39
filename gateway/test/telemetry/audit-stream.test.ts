import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import { type StartedGateway, upstream } from "../started-gateway.ts";
import { Collector } from "./collector.ts";
import { tracedGateway } from "./traced-gateway.ts";

const dataDir = mkdtempSync(join(tmpdir(), "audit-stream-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const variables = { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" };

/** The audit entries in the log, once the database's last one is there, and those in the database. */
async function logged({ control }: StartedGateway, { logs }: Collector) {
  const rows = await control.database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
  const events = () => logs.filter(({ eventName }) => eventName === "audit");
  await until(() => events().some(({ attributes }) => attributes["auditId"] === rows.at(-1)?.seq));
  return { rows, events: events().map(({ attributes, body }) => ({ ...attributes, body }) as Record<string, unknown>) };
}

test("logs and exports each audit entry of any process once, also after a restart", async () => {
  const collector = new Collector();
  const overrides = { environment: { dataDir, logLevel: "info" as const } };
  const first = await tracedGateway(collector, overrides, variables);
  const before = await logged(first, collector);
  expect(before.events.map(({ auditId }) => auditId)).toEqual(before.rows.map(({ seq }) => seq));
  const key = before.events.find(({ object }) => object === "key acme/alice");
  expect(key).toMatchObject({ body: "audit", event: "audit", actor: "test", action: "create", workspace: "acme" });
  expect(JSON.stringify(before.events)).not.toContain("sk-upstream-of-main");
  await first.stop();

  // The config is applied before the gateway starts, as by a command.
  const providers = (simulator: Parameters<typeof upstream>[1]) => [
    upstream("main", simulator),
    upstream("more", simulator),
  ];
  const second = await tracedGateway(collector, { ...overrides, providers }, variables);
  const after = await logged(second, collector);
  expect(after.rows.length).toBeGreaterThan(before.rows.length);
  expect(after.events.map(({ auditId }) => auditId)).toEqual(after.rows.map(({ seq }) => seq));
  await second.stop();
  await collector.stop();
});
