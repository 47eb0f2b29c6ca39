import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";
import { Collector } from "./collector.ts";

async function telemetryLines(variables: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-doctor-"));
  try {
    const { stdout } = await sluice(["doctor"], dataDir, { SLUICE_PORT: "0", ...variables });
    return stdout.split("\n").filter((line) => /telemetry|OTEL_/.test(line));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

test("doctor reports that nothing is exported and which setting changes that", async () => {
  expect(await telemetryLines({})).toEqual(["ok    telemetry: not exported (OTEL_EXPORTER_OTLP_ENDPOINT is not set)"]);
});

test("doctor reports for each signal whether the collector accepts it", async () => {
  const collector = new Collector();
  const lines = await telemetryLines({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector.url}/nowhere`,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=s3cr3t",
  });
  await collector.stop();
  expect(lines.map((line) => line.slice(0, line.indexOf(":")))).toEqual([
    "ok    telemetry traces",
    "ok    telemetry metrics",
    "fail  telemetry logs",
  ]);
  expect(lines[2]).toContain("404");
  expect(lines.join("")).not.toContain("s3cr3t");
});

test("doctor reports an unreachable collector and invalid variables", async () => {
  const collector = new Collector();
  await collector.stop();
  const lines = await telemetryLines({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: "1",
    OTEL_TRACES_SAMPLER: "sometimes",
  });
  expect(lines.filter((line) => line.startsWith("fail  telemetry"))).toHaveLength(3);
  expect(lines.filter((line) => line.startsWith("warn  environment: OTEL_TRACES_SAMPLER"))).toHaveLength(1);
});
