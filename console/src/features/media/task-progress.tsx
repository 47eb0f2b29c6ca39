import { Progress } from "@mantine/core";
import type { ConsoleTask } from "@sluice/contract";
import { formatShare } from "../../client/format.ts";
import { t } from "../../language/areas/media.ts";
import { formatElapsed, isOpen, tookMs } from "./task-words.ts";
import { useNow } from "./use-now.ts";

/** The progress of a running task, or an indeterminate bar if the vendor reports none. */
export function TaskProgress({ task }: { readonly task: ConsoleTask }) {
  const open = isOpen(task);
  const now = useNow(open);
  if (!open) return null;
  const isReported = task.progress !== null;
  return (
    <div className="task-progress">
      <Progress
        size="sm"
        value={task.progress ?? 100}
        animated={!isReported}
        striped={!isReported}
        aria-label={isReported ? t("media.task.progress") : t("media.task.progressUnknown")}
      />
      <span className="tabular nowrap">
        {[...(isReported ? [formatShare((task.progress ?? 0) / 100)] : []), formatElapsed(tookMs(task, now))].join(
          " · ",
        )}
      </span>
    </div>
  );
}
