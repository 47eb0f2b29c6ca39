import { Badge, Tooltip } from "@mantine/core";
import type { ConsoleKey, KeyWithUsage, keyStates } from "@sluice/contract";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/keys.ts";

export const stateWords: Readonly<Record<(typeof keyStates)[number], string>> = {
  active: t("keys.state.active"),
  disabled: t("keys.state.disabled"),
  expired: t("keys.state.expired"),
  revoked: t("keys.state.revoked"),
  without_secret: t("keys.state.withoutSecret"),
};

/** Whether the key works: an active key with an exhausted budget does not. */
export function KeyStatus({ item: { state, exhausted_by: by } }: { readonly item: KeyWithUsage }) {
  if (state === "active" && by !== null) {
    return (
      <StatusBadge
        status="exhausted"
        tone="bad"
        label={t("keys.state.exhausted")}
        hint={t("keys.state.exhaustedHelp", { by })}
      />
    );
  }
  const hint = state === "without_secret" ? { hint: t("keys.state.withoutSecretHelp") } : {};
  return <StatusBadge status={state} label={stateWords[state]} {...hint} />;
}

/** A service token is marked as expiring this long before its expiry. */
const soonMs = 7 * 86_400_000;

/** The badge of a service token and its upcoming expiry. Nothing for other keys. */
export function ServiceMark({ item }: { readonly item: Pick<ConsoleKey, "service" | "state" | "expires_at"> }) {
  if (!item.service) return null;
  const ends = item.state === "active" && item.expires_at !== null && item.expires_at - Date.now() <= soonMs;
  return (
    <>
      <Tooltip label={t("keys.service.help")}>
        <Badge color="gray" tabIndex={0} className="above-row">
          {t("keys.service.label")}
        </Badge>
      </Tooltip>
      {ends && (
        <StatusBadge status="expires" tone="warn" label={t("keys.service.soon")} hint={t("keys.service.soonHelp")} />
      )}
    </>
  );
}
