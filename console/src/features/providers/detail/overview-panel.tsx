import { Stack } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { formatShare } from "../../../client/format.ts";
import { Facts } from "../../../components/facts.tsx";
import { Count, Duration, Nothing } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/providers.ts";
import { failedShare, healthReason } from "../../catalog/health-words.ts";
import { DeploymentsSection } from "./deployments-section.tsx";
import { FailuresSection } from "./failures-section.tsx";

/** The health of a provider, the models that use it, and recent failures. */
export function OverviewPanel({ provider }: { readonly provider: ConsoleProvider }) {
  const { health, enabled } = provider;
  const failed = failedShare(health);
  return (
    <Stack gap="lg">
      <Section
        title={t("providers.lastHour")}
        description={enabled ? healthReason(health) : t("providers.disabledHelp")}
      >
        <Facts
          facts={[
            {
              name: t("providers.figures.attemptsShort"),
              value: (
                <>
                  <Count value={health.last_hour?.attempts ?? null} />{" "}
                  <span className="aside">
                    {health.in_flight > 0
                      ? t("providers.figures.running", { count: health.in_flight })
                      : t("providers.figures.notRunning")}
                  </span>
                </>
              ),
            },
            {
              name: t("providers.figures.failedShort"),
              value: (
                <>
                  <Count value={health.last_hour?.failed ?? null} />{" "}
                  {failed !== null && (
                    <span className="aside">{t("providers.figures.failedShare", { share: formatShare(failed) })}</span>
                  )}
                </>
              ),
            },
            {
              name: t("providers.latency"),
              value:
                health.latency_ms === null ? (
                  <Nothing word={t("providers.figures.unknown")} />
                ) : (
                  <>
                    <Duration ms={health.latency_ms} /> <span className="aside">{t("providers.figures.latency")}</span>
                  </>
                ),
            },
          ]}
        />
      </Section>
      <DeploymentsSection provider={provider} />
      <FailuresSection provider={provider} />
    </Stack>
  );
}
