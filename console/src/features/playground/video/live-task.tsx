import { Skeleton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { Money } from "../../../components/figures.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { StatusBadge, stateWords } from "../../../components/status-badge.tsx";
import { Rich, t } from "../../../language/areas/playground.ts";
import { TaskProgress } from "../../media/task-progress.tsx";
import { absenceOf, isOpen } from "../../media/task-words.ts";
import { VideoPlayer } from "../../media/video-player.tsx";

const refreshMs = 2_500;

/** One task, polled until it ends. */
export function LiveTask({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  const params = { workspace, task: id };
  const first = useCall("tasks.show", { params });
  const open = first.data !== undefined && isOpen(first.data);
  const { data: task, error, refetch } = useCall("tasks.show", { params, everyMs: open ? refreshMs : false });
  if (task === undefined) {
    return error === null ? <Skeleton height={120} /> : <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  }
  return (
    <article className="run" aria-busy={open}>
      <Link className="run-title text-link" to="/media/$task" params={{ task: id }} search={{ workspace }}>
        {task.prompt === null || task.prompt === "" ? t("playground.video.noPrompt") : task.prompt}
      </Link>
      <div className="task-card-line">
        <StatusBadge status={task.status} />
        <span className="cut">{task.model}</span>
        <span className="task-card-cost">
          {task.cost_estimated && task.cost_usd !== null ? (
            <Rich text="playground.video.about" values={{ cost: <Money usd={task.cost_usd} /> }} />
          ) : (
            <Money usd={task.cost_usd} />
          )}
        </span>
      </div>
      <TaskProgress task={task} />
      <span className="unseen" role="status">
        {t("playground.video.status", { status: stateWords(task.status) })}
      </span>
      {task.has_content && <VideoPlayer task={task} />}
      {!open && !task.has_content && <p className="run-note">{absenceOf(task)}</p>}
      {error !== null && <ProblemAlert problem={error} onRetry={() => void refetch()} />}
    </article>
  );
}
