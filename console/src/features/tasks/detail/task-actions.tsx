import { Button } from "@mantine/core";
import type { TaskDetail } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { useSession } from "../../../session/session-context.tsx";
import { useKept } from "../../media/kept.ts";
import { isOpen } from "../../media/task-words.ts";
import { draftOf, plainVideo, type VideoDraft, videoDraftName } from "../../media/video-draft.ts";
import { SendAgain } from "./send-again.tsx";

/** Cancel, change and send again. */
export function TaskActions({ slug, task }: { readonly slug: string; readonly task: TaskDetail }) {
  const { may } = useSession();
  const navigate = useNavigate();
  const [again, setAgain] = useState(false);
  const [, setDraft] = useKept<VideoDraft>(videoDraftName(slug), plainVideo);
  const cancel = useAct("tasks.cancel", {
    invalidates: ["tasks.show", "tasks.list"],
    done: ({ status }) =>
      status === "cancelled" ? "Task cancelled." : "The provider was asked to cancel it and has not done so yet.",
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
          title="Cancel this task?"
          verb="Cancel task"
          onConfirm={() => cancel.mutateAsync({ params: { workspace: slug, task: task.id } })}
        >
          The provider is asked to stop. Some cannot stop what they have begun; then the task goes on, and is charged.
          What was cancelled cannot be taken up again, only sent again.
        </ConfirmButton>
      )}
      <Button variant="default" onClick={edit}>
        Edit in playground
      </Button>
      <Button
        variant={isOpen(task) ? "default" : "filled"}
        disabled={!task.request_whole}
        title={
          task.request_whole ? undefined : "The pictures inside its body are not kept. Edit it, and give them again."
        }
        onClick={() => setAgain(true)}
      >
        Send again
      </Button>
      <SendAgain slug={slug} task={task} opened={again} onClose={() => setAgain(false)} />
    </>
  );
}
