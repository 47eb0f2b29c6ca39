import { Stack } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { formatShare } from "../../../client/format.ts";
import { Count, Duration, Nothing } from "../../../components/figures.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { failedShare, healthLabel, healthReason } from "../../catalog/health-words.ts";
import { DeploymentsSection } from "./deployments-section.tsx";
import { FailuresSection } from "./failures-section.tsx";

/** How a provider is now, what leads to it, and what went wrong lately. */
export function OverviewPanel({ provider }: { readonly provider: ConsoleProvider }) {
  const { health, enabled } = provider;
  const failed = failedShare(health);
  return (
    <Stack gap="lg">
      <Stats label="How it is">
        <Stat
          label="Health"
          value={enabled ? healthLabel(health) : "Disabled"}
          hint={enabled ? healthReason(health) : "No call goes to it."}
        />
        <Stat
          label="Attempts in the last hour"
          value={<Count value={health.last_hour?.attempts ?? null} />}
          hint={health.in_flight > 0 ? `${health.in_flight} running now` : "none running now"}
        />
        <Stat
          label="Failed in the last hour"
          value={<Count value={health.last_hour?.failed ?? null} />}
          hint={failed === null ? undefined : `${formatShare(failed)} of its attempts`}
        />
        <Stat
          label="Latency"
          value={health.latency_ms === null ? <Nothing word="not known" /> : <Duration ms={health.latency_ms} />}
          hint="mean of recent good calls"
        />
      </Stats>
      <DeploymentsSection provider={provider} />
      <FailuresSection provider={provider} />
    </Stack>
  );
}
