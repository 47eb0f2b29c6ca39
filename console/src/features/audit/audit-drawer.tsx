import { Skeleton, Stack, Text, Title } from "@mantine/core";
import type { AuditRow } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { DiffView } from "../../components/diff-view.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/audit.ts";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { targetWords } from "./action-words.ts";
import { ActionBadge } from "./audit-columns.tsx";
import { entryNamed } from "./audit-query.ts";

interface AuditDrawerProps {
  /** Entries that the page has already loaded. */
  readonly rows: readonly AuditRow[];
}

const sameMomentMax = 200;

/** The entry in the URL: from the list, or loaded for a direct link. */
export function AuditDrawer({ rows }: AuditDrawerProps) {
  const workspace = useWorkspace();
  const [name, setName] = useUrlText("entry");
  const entry = entryNamed(name);
  const loadedRow = rows.find((row) => row.seq === entry?.seq);
  const lookup = useCall("audit.list", {
    params: { workspace: workspace.path },
    query: { from: entry?.at ?? 0, to: (entry?.at ?? 0) + 1, limit: sameMomentMax },
    enabled: entry !== null && loadedRow === undefined,
  });
  const row = loadedRow ?? lookup.data?.data.find((each) => each.seq === entry?.seq);
  return (
    <Drawer opened={entry !== null} onClose={() => setName("")} size="lg" title={t("audit.entry.title")}>
      {row !== undefined ? (
        <Entry row={row} />
      ) : lookup.error !== null ? (
        <ProblemAlert problem={lookup.error} onRetry={() => void lookup.refetch()} />
      ) : lookup.data === undefined ? (
        <Skeleton height={160} />
      ) : (
        <EmptyState title={t("audit.entry.missing")}>{t("audit.entry.missingHelp")}</EmptyState>
      )}
    </Drawer>
  );
}

function Entry({ row }: { readonly row: AuditRow }) {
  const { before, after } = row;
  const hasNoChange = (before ?? null) === null && (after ?? null) === null;
  return (
    <Stack gap="md">
      <div>
        <ActionBadge action={row.action} />
        <Title order={3} fz="md" mt={4} className="break">
          {targetWords(row)}
        </Title>
      </div>
      <dl className="fact-list">
        <div>
          <dt>{t("audit.actor")}</dt>
          <dd>{row.actor}</dd>
        </div>
        <div>
          <dt>{t("audit.entry.time")}</dt>
          <dd>
            <When at={row.at} exact />
          </dd>
        </div>
        <div>
          <dt>{t("audit.entry.address")}</dt>
          <dd>{row.ip ?? t("audit.entry.noAddress")}</dd>
        </div>
        {row.workspace !== null && (
          <div>
            <dt>{t("audit.workspace")}</dt>
            <dd>{row.workspace.slug || row.workspace.id}</dd>
          </div>
        )}
        <div>
          <dt>{t("audit.entry.number")}</dt>
          <dd>{row.seq}</dd>
        </div>
      </dl>
      {hasNoChange ? (
        <Text fz="sm" c="dimmed">
          {t("audit.entry.noChange")}
        </Text>
      ) : (
        <>
          <DiffView before={before} after={after} label={t("audit.entry.title")} />
          <Whole value={before} title={t("audit.entry.wholeBefore")} label={t("audit.entry.recordBefore")} />
          <Whole value={after} title={t("audit.entry.wholeAfter")} label={t("audit.entry.recordAfter")} />
        </>
      )}
    </Stack>
  );
}

interface WholeProps {
  readonly value: unknown;
  readonly title: string;
  readonly label: string;
}

function Whole({ value, title, label }: WholeProps) {
  if ((value ?? null) === null) return null;
  return (
    <details className="raw-usage">
      <summary>{title}</summary>
      <JsonView value={value} label={label} />
    </details>
  );
}
