import type { Health } from "@sluice/contract";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/catalog.ts";
import { healthLabel, healthReason } from "./health-words.ts";

interface HealthBadgeProps {
  readonly health: Health;
  /** Disabled on purpose, so its health does not matter. */
  readonly enabled?: boolean;
}

/** The health of a provider or deployment, with the reason on hover and focus. */
export function HealthBadge({ health, enabled = true }: HealthBadgeProps) {
  if (!enabled) return <StatusBadge status="disabled" hint={t("catalog.health.off")} />;
  return <StatusBadge status={health.state} label={healthLabel(health)} hint={healthReason(health)} />;
}
