import { Skeleton, Text } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/keys.ts";
import { LimitUsageList } from "../../limits/limit-usage-list.tsx";

const refreshMs = 15_000;

/** Usage of the key's limits. Limits of its group and workspace apply too. */
export function KeyLimits({ item }: { readonly item: ConsoleKey }) {
  const { slug } = item.workspace;
  const query = useCall("limits.list", {
    params: { workspace: slug },
    query: { key: item.id },
    everyMs: refreshMs,
    enabled: item.state !== "revoked",
  });
  if (item.state === "revoked") return null;
  const rows = query.data?.data;
  return (
    <Section
      title={t("keys.ownLimits.title")}
      description={t("keys.ownLimits.help")}
      actions={
        <Link to="/limits" search={{ workspace: slug }} className="text-link section-link">
          {t("keys.ownLimits.all")}
        </Link>
      }
    >
      {query.error !== null ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : rows === undefined ? (
        <Skeleton height={48} />
      ) : rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("keys.ownLimits.none")}
        </Text>
      ) : (
        <LimitUsageList rows={rows} />
      )}
    </Section>
  );
}
