import { Alert, Button, Text } from "@mantine/core";
import type { TaskDetail } from "@sluice/contract";
import { IconPhotoDown } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type RefObject, useState } from "react";
import { Problem } from "../../../client/problem.ts";
import { noticeProblem } from "../../../components/notice.tsx";
import { Section } from "../../../components/section.tsx";
import { Rich, t } from "../../../language/areas/tasks.ts";
import { useSession } from "../../../session/session-context.tsx";
import { frameOf } from "../../media/frame-of.ts";
import { useTabState } from "../../media/tab-state.ts";
import { TaskProgress } from "../../media/task-progress.tsx";
import { plainVideo, type VideoDraft, videoDraftName } from "../../media/video-draft.ts";
import { VideoPlayer } from "../../media/video-player.tsx";
import { VideoPreview } from "../../media/video-preview.tsx";

interface TaskVideoProps {
  readonly task: TaskDetail;
  readonly video: RefObject<HTMLVideoElement | null>;
}

/** The video, or the reason why it is not available yet or any more. */
export function TaskVideo({ task, video }: TaskVideoProps) {
  const { may } = useSession();
  const { slug } = task.workspace;
  const [ready, setReady] = useState(false);
  const [, setDraft] = useTabState<VideoDraft>(videoDraftName(slug), plainVideo);
  const navigate = useNavigate();
  const useFrame = () => {
    const frame = video.current === null ? null : frameOf(video.current);
    if (frame === null) {
      noticeProblem(new Problem("unexpected", t("tasks.frame.unavailable")));
      return;
    }
    setDraft((before) => ({ ...before, image: frame }));
    void navigate({ to: "/playground", search: { workspace: slug, type: "video" } });
  };
  return (
    <Section title={t("tasks.video")}>
      {task.has_content ? (
        <VideoPlayer task={task} video={video} onReady={() => setReady(true)}>
          {ready && may("member", slug) && (
            <Button
              variant="subtle"
              size="compact-xs"
              leftSection={<IconPhotoDown size={14} aria-hidden />}
              title={t("tasks.frame.help")}
              onClick={useFrame}
            >
              {t("tasks.frame.use")}
            </Button>
          )}
        </VideoPlayer>
      ) : (
        <NoVideo task={task} />
      )}
      {task.prompt !== null && task.prompt !== "" && (
        <Text size="sm" mt="sm" className="answer-words">
          {task.prompt}
        </Text>
      )}
    </Section>
  );
}

function NoVideo({ task }: { readonly task: TaskDetail }) {
  if (task.error !== null) {
    return (
      <Alert color="red" variant="light" title={task.error.message}>
        <Text size="xs">
          <Rich
            text="tasks.failedHelp"
            tags={{ code: (code) => <code>{code}</code> }}
            values={{ code: task.error.code }}
          />
        </Text>
      </Alert>
    );
  }
  return (
    <>
      <div className="video-frame-box">
        <VideoPreview task={task} />
      </div>
      <TaskProgress task={task} />
    </>
  );
}
