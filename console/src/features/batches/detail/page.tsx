import { Skeleton } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { NeedsWorkspace } from "../../../components/needs-workspace.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/batches.ts";
import "../../../styles/media.css";
import { isOpen } from "../batch-progress.tsx";
import { BatchActions } from "./batch-actions.tsx";
import { BatchFacts } from "./batch-facts.tsx";
import { BatchRows } from "./batch-rows.tsx";
import { FailedRows } from "./failed-rows.tsx";
import { RefusedLines } from "./refused-lines.tsx";

const refreshMs = 3_000;
const crumbs = [{ label: t("batches.title"), link: { to: "/batches" } as const }];

export default function BatchPage() {
  const { batch } = useParams({ from: "/batches/$batch" });
  return (
    <NeedsWorkspace why={t("batches.needsWorkspace")}>
      {(slug) => <BatchView key={batch} slug={slug} id={batch} />}
    </NeedsWorkspace>
  );
}

function BatchView({ slug, id }: { readonly slug: string; readonly id: string }) {
  const params = { workspace: slug, batch: id };
  const loaded = useCall("batches.show", { params });
  const open = loaded.data !== undefined && isOpen(loaded.data);
  const { data: batch, error, refetch } = useCall("batches.show", { params, everyMs: open && refreshMs });
  if (batch === undefined) {
    return (
      <PageFrame title={t("batches.batch")} crumbs={crumbs}>
        {error === null ? <Skeleton height={320} /> : <ProblemAlert problem={error} onRetry={() => void refetch()} />}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={batch.name === "" ? t("batches.batch") : batch.name}
      crumbs={crumbs}
      badges={<StatusBadge status={batch.state} />}
      actions={<BatchActions slug={slug} batch={batch} />}
    >
      {error !== null && <ProblemAlert problem={error} onRetry={() => void refetch()} />}
      {batch.problems.length > 0 && <RefusedLines problems={batch.problems} />}
      <div className="task-grid">
        <BatchRows batch={batch} />
        <BatchFacts batch={batch} />
      </div>
      {batch.rows.failed > 0 && <FailedRows batch={batch} />}
    </PageFrame>
  );
}
