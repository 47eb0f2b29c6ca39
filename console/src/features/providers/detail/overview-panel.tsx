import { Stack } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { formatShare } from "../../../client/format.ts";
import { Count, Duration, Nothing } from "../../../components/figures.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { t } from "../../../language/areas/providers.ts";
import { failedShare, healthLabel, healthReason } from "../../catalog/health-words.ts";
import { DeploymentsSection } from "./deployments-section.tsx";
import { FailuresSection } from "./failures-section.tsx";

/** The health of a provider, the models that use it, and recent failures. */
export function OverviewPanel({ provider }: { readonly provider: ConsoleProvider }) {
  const { health, enabled } = provider;
  const failed = failedShare(health);
  return (
    <Stack gap="lg">
      <Stats label={t("providers.status")}>
        <Stat
          label={t("providers.health")}
          value={enabled ? healthLabel(health) : t("providers.disabled")}
          hint={enabled ? healthReason(health) : t("providers.disabledHelp")}
        />
        <Stat
          label={t("providers.figures.attempts")}
          value={<Count value={health.last_hour?.attempts ?? null} />}
          hint={
            health.in_flight > 0
              ? t("providers.figures.running", { count: health.in_flight })
              : t("providers.figures.notRunning")
          }
        />
        <Stat
          label={t("providers.figures.failed")}
          value={<Count value={health.last_hour?.failed ?? null} />}
          hint={failed === null ? undefined : t("providers.figures.failedShare", { share: formatShare(failed) })}
        />
        <Stat
          label={t("providers.latency")}
          value={
            health.latency_ms === null ? (
              <Nothing word={t("providers.figures.unknown")} />
            ) : (
              <Duration ms={health.latency_ms} />
            )
          }
          hint={t("providers.figures.latency")}
        />
      </Stats>
      <DeploymentsSection provider={provider} />
      <FailuresSection provider={provider} />
    </Stack>
  );
}
