import { Drawer, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { AuditRow } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { DiffView } from "../../components/diff-view.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { ActionBadge } from "./audit-columns.tsx";
import { entryNamed } from "./audit-query.ts";

interface AuditDrawerProps {
  /** Those the page has loaded already. */
  readonly rows: readonly AuditRow[];
}

const sameMomentMax = 200;

/** The entry that the address names: from the list, or asked for when somebody came by its link. */
export function AuditDrawer({ rows }: AuditDrawerProps) {
  const workspace = useWorkspace();
  const [name, setName] = useUrlText("entry");
  const entry = entryNamed(name);
  const known = rows.find((row) => row.seq === entry?.seq);
  const asked = useCall("audit.list", {
    params: { workspace: workspace.path },
    query: { from: entry?.at ?? 0, to: (entry?.at ?? 0) + 1, limit: sameMomentMax },
    enabled: entry !== null && known === undefined,
  });
  const row = known ?? asked.data?.data.find((each) => each.seq === entry?.seq);
  return (
    <Drawer opened={entry !== null} onClose={() => setName("")} size="lg" title="What changed">
      {row !== undefined ? (
        <Entry row={row} />
      ) : asked.error !== null ? (
        <ProblemAlert problem={asked.error} onRetry={() => void asked.refetch()} />
      ) : asked.data === undefined ? (
        <Skeleton height={160} />
      ) : (
        <EmptyState title="No such entry">
          It may belong to another workspace, or it was removed with the old part of the log.
        </EmptyState>
      )}
    </Drawer>
  );
}

function Entry({ row }: { readonly row: AuditRow }) {
  const { before, after } = row;
  const nothingKept = (before ?? null) === null && (after ?? null) === null;
  return (
    <Stack gap="md">
      <div>
        <ActionBadge action={row.action} />
        <Title order={3} fz="md" mt={4} className="break">
          {row.object}
        </Title>
      </div>
      <dl className="fact-list">
        <div>
          <dt>Who</dt>
          <dd>{row.actor}</dd>
        </div>
        <div>
          <dt>When</dt>
          <dd>
            <When at={row.at} exact />
          </dd>
        </div>
        <div>
          <dt>From</dt>
          <dd>{row.ip ?? "not by the network: the file, the command line, or the gateway itself"}</dd>
        </div>
        {row.workspace !== null && (
          <div>
            <dt>Workspace</dt>
            <dd>{row.workspace.slug || row.workspace.id}</dd>
          </div>
        )}
        <div>
          <dt>Number</dt>
          <dd>{row.seq}</dd>
        </div>
      </dl>
      {nothingKept ? (
        <Text fz="sm" c="dimmed">
          It happened; there is nothing to compare.
        </Text>
      ) : (
        <>
          <DiffView before={before} after={after} label="What changed" />
          <Whole value={before} label="before" />
          <Whole value={after} label="after" />
        </>
      )}
    </Stack>
  );
}

function Whole({ value, label }: { readonly value: unknown; readonly label: string }) {
  if ((value ?? null) === null) return null;
  return (
    <details className="raw-usage">
      <summary>All of it, {label}</summary>
      <JsonView value={value} label={`the object ${label}`} />
    </details>
  );
}
