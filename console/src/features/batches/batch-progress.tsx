import { Progress } from "@mantine/core";
import type { ConsoleBatch } from "@sluice/contract";
import { formatCount } from "../../client/format.ts";
import { Nothing } from "../../components/figures.tsx";
import { t } from "../../language/areas/batches.ts";

export function isOpen({ ended_at: endedAt }: Pick<ConsoleBatch, "ended_at">): boolean {
  return endedAt === null;
}

/** The share of rows that have ended, with the failed ones in another color. */
export function BatchProgress({ rows }: Pick<ConsoleBatch, "rows">) {
  const { total, succeeded, failed, canceled, expired, open } = rows;
  if (total === 0) return <Nothing />;
  const share = (count: number) => (100 * count) / total;
  return (
    <div className="task-progress batch-progress">
      <Progress.Root size="sm">
        <Progress.Section value={share(succeeded)} aria-label={t("batches.progress.label")} />
        <Progress.Section value={share(failed)} color="red" aria-label={t("batches.rows.failed")} />
        <Progress.Section value={share(canceled + expired)} color="gray" aria-label={t("batches.rows.canceled")} />
      </Progress.Root>
      <span className="tabular nowrap">
        {t("batches.progress.of", { ended: formatCount(total - open), total: formatCount(total) })}
      </span>
    </div>
  );
}
