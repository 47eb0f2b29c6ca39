import { Button, Text } from "@mantine/core";
import type { TaskDetail } from "@sluice/contract";
import { IconPhotoDown } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type RefObject, useState } from "react";
import { Problem } from "../../client/problem.ts";
import { noticeProblem } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { useSession } from "../../session/session-context.tsx";
import { useKept } from "../../studio/kept.ts";
import { TaskProgress } from "../../studio/task-progress.tsx";
import { plainVideo, type VideoDraft, videoDraftName } from "../../studio/video-draft.ts";
import { VideoPlayer } from "../../studio/video-player.tsx";
import { VideoPreview } from "../../studio/video-preview.tsx";

interface TaskVideoProps {
  readonly task: TaskDetail;
  readonly video: RefObject<HTMLVideoElement | null>;
}

/** The video, or why there is none yet or any more. */
export function TaskVideo({ task, video }: TaskVideoProps) {
  const { may } = useSession();
  const { slug } = task.workspace;
  const [ready, setReady] = useState(false);
  const [, setDraft] = useKept<VideoDraft>(videoDraftName(slug), plainVideo);
  const navigate = useNavigate();
  const useFrame = () => {
    const frame = video.current === null ? null : frameOf(video.current);
    if (frame === null) {
      noticeProblem(new Problem("unexpected", "This browser does not give the picture out."));
      return;
    }
    setDraft((before) => ({ ...before, image: frame }));
    void navigate({ to: "/playground", search: { workspace: slug, type: "video" } });
  };
  return (
    <Section title="Video">
      {task.has_content ? (
        <VideoPlayer task={task} video={video} onReady={() => setReady(true)}>
          {ready && may("member", slug) && (
            <Button
              variant="subtle"
              size="compact-xs"
              leftSection={<IconPhotoDown size={14} aria-hidden />}
              title="The picture that stands still now becomes the first frame of a new video"
              onClick={useFrame}
            >
              Use this frame
            </Button>
          )}
        </VideoPlayer>
      ) : (
        <>
          <div className="video-frame-box">
            <VideoPreview task={task} />
          </div>
          <TaskProgress task={task} />
        </>
      )}
      {task.prompt !== null && task.prompt !== "" && (
        <Text size="sm" mt="sm" className="answer-words">
          {task.prompt}
        </Text>
      )}
    </Section>
  );
}

const frameQuality = 0.92;

/** What the player shows right now, as a JPEG; null where it cannot be had. */
function frameOf(video: HTMLVideoElement): string | null {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  const context = canvas.getContext("2d");
  if (context === null || canvas.width === 0) return null;
  try {
    context.drawImage(video, 0, 0);
    return canvas.toDataURL("image/jpeg", frameQuality);
  } catch {
    return null;
  }
}
