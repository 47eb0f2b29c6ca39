import { Button } from "@mantine/core";
import type { TaskDetail } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { t } from "../../../language/areas/tasks.ts";
import { useSession } from "../../../session/session-context.tsx";
import { useTabState } from "../../media/tab-state.ts";
import { isOpen } from "../../media/task-words.ts";
import { draftOf, plainVideo, type VideoDraft, videoDraftName } from "../../media/video-draft.ts";
import { SendAgain } from "./send-again.tsx";

/** Cancel, change and send again. */
export function TaskActions({ slug, task }: { readonly slug: string; readonly task: TaskDetail }) {
  const { may } = useSession();
  const navigate = useNavigate();
  const [again, setAgain] = useState(false);
  const [, setDraft] = useTabState<VideoDraft>(videoDraftName(slug), plainVideo);
  const cancel = useAct("tasks.cancel", {
    invalidates: ["tasks.show", "tasks.list"],
    done: ({ status }) => (status === "cancelled" ? t("tasks.cancel.done") : t("tasks.cancel.requested")),
  });
  if (!may("member", slug)) return null;
  const edit = () => {
    setDraft(draftOf(task.request));
    void navigate({ to: "/playground", search: { workspace: slug, type: "video", model: task.model } });
  };
  return (
    <>
      {isOpen(task) && (
        <ConfirmButton
          title={t("tasks.cancel.title")}
          verb={t("tasks.cancel.run")}
          onConfirm={() => cancel.mutateAsync({ params: { workspace: slug, task: task.id } })}
        >
          {t("tasks.cancel.help")}
        </ConfirmButton>
      )}
      <Button variant="default" onClick={edit}>
        {t("tasks.edit")}
      </Button>
      <Button
        variant={isOpen(task) ? "default" : "filled"}
        disabled={!task.request_whole}
        title={task.request_whole ? undefined : t("tasks.requestIncomplete")}
        onClick={() => setAgain(true)}
      >
        {t("tasks.resend.run")}
      </Button>
      <SendAgain slug={slug} task={task} opened={again} onClose={() => setAgain(false)} />
    </>
  );
}
