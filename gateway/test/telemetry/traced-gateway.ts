import { readEnvironment } from "#config/index.ts";
import { type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";
import type { Collector } from "./collector.ts";

/** A gateway that exports everything soon. `variables`: additional environment variables. */
export async function tracedGateway(
  collector: Collector,
  overrides: Overrides = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<StartedGateway> {
  const { otlp } = readEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "1",
    OTEL_BLRP_SCHEDULE_DELAY: "1",
    ...variables,
  });
  return await startGateway({ ...overrides, environment: { otlp, ...overrides.environment } });
}

export const serverKind = 2;
export const clientKind = 3;
