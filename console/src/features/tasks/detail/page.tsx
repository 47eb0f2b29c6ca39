import { Skeleton } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/tasks.ts";
import "../../../styles/media.css";
import { JsonView } from "../../../components/json-view.tsx";
import { NeedsWorkspace } from "../../../components/needs-workspace.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { isOpen } from "../../media/task-words.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { TaskActions } from "./task-actions.tsx";
import { TaskFacts } from "./task-facts.tsx";
import { TaskHistory } from "./task-history.tsx";
import { TaskVideo } from "./task-video.tsx";

const refreshMs = 3_000;
/** Messages to the caller are tried again for a while after the end. */
const afterMs = 15_000;

export default function TaskPage() {
  const { task } = useParams({ from: "/media/$task" });
  return (
    <NeedsWorkspace why={t("tasks.needsWorkspace")}>
      {(slug) => <TaskView key={task} slug={slug} id={task} />}
    </NeedsWorkspace>
  );
}

const crumbs = [{ label: t("tasks.title"), link: { to: "/media" } as const }];

function TaskView({ slug, id }: { readonly slug: string; readonly id: string }) {
  const params = { workspace: slug, task: id };
  const loaded = useCall("tasks.show", { params });
  const open = loaded.data !== undefined && isOpen(loaded.data);
  const waits = loaded.data?.deliveries.some((each) => each.next_at !== null) === true;
  const {
    data: task,
    error,
    refetch,
  } = useCall("tasks.show", { params, everyMs: open ? refreshMs : waits && afterMs });
  const video = useRef<HTMLVideoElement>(null);
  if (task === undefined) {
    return (
      <PageFrame title={t("tasks.task")} crumbs={crumbs}>
        {error === null ? <Skeleton height={360} /> : <ProblemAlert problem={error} onRetry={() => void refetch()} />}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={t("tasks.task")}
      crumbs={crumbs}
      badges={<StatusBadge status={task.status} />}
      actions={<TaskActions slug={slug} task={task} />}
    >
      {error !== null && <ProblemAlert problem={error} onRetry={() => void refetch()} />}
      <div className="task-grid">
        <TaskVideo task={task} video={video} />
        <TaskFacts task={task} />
      </div>
      <div className="task-grid">
        <Section title={t("tasks.request.title")} description={t("tasks.request.help")}>
          <JsonView value={task.request} label={t("tasks.request.body")} open={2} />
        </Section>
        <TaskHistory task={task} />
      </div>
      {task.deliveries.length > 0 && <DeliveryList deliveries={task.deliveries} />}
    </PageFrame>
  );
}
