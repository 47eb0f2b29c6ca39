import type { OtlpSignal } from "#ports/index.ts";
import type { CollectorNetwork } from "./collector-client.ts";
import { logExporter, metricExporter, spanExporter } from "./exporters.ts";
import type { Origin, SdkMetrics } from "./sdk-types.ts";

const nobody = { resource: { attributes: {} }, scope: { name: "sluice" } } as unknown as Origin;
const nothing = { resource: { attributes: {} }, scopeMetrics: [] } as unknown as SdkMetrics;

/** null: it takes exports. What it answers to an empty one is what it would answer to a full one, credentials and path among it. */
export async function probeCollector(
  signal: OtlpSignal,
  kind: "traces" | "metrics" | "logs",
  network: CollectorNetwork,
): Promise<string | null> {
  switch (kind) {
    case "traces": {
      const { row, send } = await spanExporter(signal, network, nobody);
      return (await send(row.take(0))).problem;
    }
    case "logs": {
      const { row, send } = await logExporter(signal, network, nobody);
      return (await send(row.take(0))).problem;
    }
    case "metrics":
      return (await (await metricExporter(signal, network))(nothing)).problem;
  }
}
