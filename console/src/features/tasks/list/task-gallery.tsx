import { Skeleton } from "@mantine/core";
import type { ConsoleTask } from "@sluice/contract";
import type { ReactNode } from "react";
import type { Rows } from "../../../api/use-pages.ts";
import { countWords } from "../../../components/count-words.ts";
import { LoadMore } from "../../../components/load-more.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/tasks.ts";
import { TaskCard } from "../../media/task-card.tsx";
import { PreviewSlots } from "../../media/video-preview.tsx";

interface TaskGalleryProps {
  readonly rows: Rows<ConsoleTask>;
  readonly withWorkspace: boolean;
  readonly empty: ReactNode;
}

const waiting = ["one", "two", "three", "four", "five", "six"];

export function TaskGallery({ rows, withWorkspace, empty }: TaskGalleryProps) {
  if (rows.rows === null) {
    if (rows.problem !== null) return <ProblemAlert problem={rows.problem} onRetry={rows.reload} />;
    return (
      <div className="gallery" aria-busy="true">
        {waiting.map((name) => (
          <Skeleton key={name} height={240} radius="sm" />
        ))}
      </div>
    );
  }
  if (rows.rows.length === 0 && rows.more === null) return <div className="table-empty">{empty}</div>;
  return (
    <>
      {rows.problem !== null && <ProblemAlert problem={rows.problem} onRetry={rows.reload} />}
      <PreviewSlots>
        <section className="gallery" aria-label={t("tasks.title")} data-stale={rows.stale || undefined}>
          {rows.rows.map((task) => (
            <TaskCard key={task.id} task={task} withWorkspace={withWorkspace} />
          ))}
        </section>
      </PreviewSlots>
      <p className="list-count">{countWords(rows.rows.length, rows)}</p>
      <LoadMore rows={rows} />
    </>
  );
}
