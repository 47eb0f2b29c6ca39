import { Anchor, Text } from "@mantine/core";
import { type ConsoleTask, taskContentPath } from "@sluice/contract";
import { IconDownload, IconMovieOff } from "@tabler/icons-react";
import { type ReactNode, type RefObject, useState } from "react";
import { t } from "../../language/areas/media.ts";

interface VideoPlayerProps {
  readonly task: ConsoleTask;
  readonly video?: RefObject<HTMLVideoElement | null>;
  readonly onReady?: () => void;
  /** Buttons next to the download button. */
  readonly children?: ReactNode;
}

/** A player for a finished video, with download. */
export function VideoPlayer({ task, video, onReady, children }: VideoPlayerProps) {
  const [broken, setBroken] = useState(false);
  const source = taskContentPath(task.workspace.slug, task.id);
  return (
    <div className="video-player">
      {broken ? (
        <div className="video-frame video-frame-large">
          <span className="video-absence">
            <IconMovieOff size={24} stroke={1.4} aria-hidden />
            <span>{t("media.video.unplayable")}</span>
          </span>
        </div>
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: generated videos have no captions.
        <video
          ref={video}
          src={source}
          controls
          loop
          playsInline
          preload="metadata"
          aria-label={task.prompt ?? t("media.video.label")}
          onLoadedData={() => onReady?.()}
          onError={() => setBroken(true)}
        />
      )}
      <div className="video-actions">
        <Anchor href={source} download={`${task.id}.mp4`} size="xs" className="icon-link">
          <IconDownload size={14} aria-hidden /> {t("media.video.download")}
        </Anchor>
        {!broken && children}
        {task.error !== null && (
          <Text size="xs" c="dimmed">
            {task.error.message}
          </Text>
        )}
      </div>
    </div>
  );
}
