import { Stack } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { formatShare } from "../../../client/format.ts";
import { Count, Duration, Nothing } from "../../../components/figures.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { t } from "../../../language/areas/providers.ts";
import { failedShare, healthLabel, healthReason } from "../../catalog/health-words.ts";
import { DeploymentsSection } from "./deployments-section.tsx";
import { FailuresSection } from "./failures-section.tsx";

/** How a provider is now, what leads to it, and what went wrong lately. */
export function OverviewPanel({ provider }: { readonly provider: ConsoleProvider }) {
  const { health, enabled } = provider;
  const failed = failedShare(health);
  return (
    <Stack gap="lg">
      <Stats label={t("providers.howItIs")}>
        <Stat
          label={t("providers.health")}
          value={enabled ? healthLabel(health) : t("providers.disabled")}
          hint={enabled ? healthReason(health) : t("providers.noCallGoesToIt")}
        />
        <Stat
          label={t("providers.attemptsInTheLastHour")}
          value={<Count value={health.last_hour?.attempts ?? null} />}
          hint={
            health.in_flight > 0
              ? t("providers.runningNow", { in_flight: health.in_flight })
              : t("providers.noneRunningNow")
          }
        />
        <Stat
          label={t("providers.failedInTheLastHour")}
          value={<Count value={health.last_hour?.failed ?? null} />}
          hint={failed === null ? undefined : t("providers.ofItsAttempts", { failed: formatShare(failed) })}
        />
        <Stat
          label={t("providers.latency")}
          value={
            health.latency_ms === null ? (
              <Nothing word={t("providers.notKnown")} />
            ) : (
              <Duration ms={health.latency_ms} />
            )
          }
          hint={t("providers.meanOfRecentGoodCalls")}
        />
      </Stats>
      <DeploymentsSection provider={provider} />
      <FailuresSection provider={provider} />
    </Stack>
  );
}
