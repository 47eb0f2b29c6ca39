import { Loader } from "@mantine/core";
import { useInViewport, useReducedMotion } from "@mantine/hooks";
import { type ConsoleTask, taskContentPath } from "@sluice/contract";
import { IconAlertTriangle, IconMovie, IconMovieOff } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { absenceOf, isOpen } from "./task-words.ts";

/** A task's video as a still: its first frame, once it comes into view; it moves while a pointer rests on it. */
export function VideoPreview({ task }: { readonly task: ConsoleTask }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (inViewport) setSeen(true);
  }, [inViewport]);
  return (
    <div ref={ref} className="video-frame">
      {task.has_content ? seen && <Still task={task} /> : <Absence task={task} />}
    </div>
  );
}

function Still({ task }: { readonly task: ConsoleTask }) {
  const video = useRef<HTMLVideoElement>(null);
  const still = useReducedMotion();
  const [state, setState] = useState<"loading" | "ready" | "broken">("loading");
  if (state === "broken") {
    return (
      <span className="video-absence">
        <IconMovie size={22} stroke={1.4} aria-hidden />
        <span>No preview</span>
      </span>
    );
  }
  return (
    <>
      {state === "loading" && <Loader size="xs" color="gray" className="video-loading" aria-hidden />}
      <video
        ref={video}
        // The fragment makes browsers draw the first frame of what is not played.
        src={`${taskContentPath(task.workspace.slug, task.id)}#t=0.001`}
        preload="metadata"
        muted
        loop
        playsInline
        tabIndex={-1}
        aria-hidden
        onLoadedData={() => setState("ready")}
        onError={() => setState("broken")}
        onPointerEnter={() => {
          if (!still) void video.current?.play().catch(() => undefined);
        }}
        onPointerLeave={() => {
          video.current?.pause();
        }}
      />
    </>
  );
}

function Absence({ task }: { readonly task: ConsoleTask }) {
  const Icon = task.status === "failed" ? IconAlertTriangle : task.status === "succeeded" ? IconMovieOff : IconMovie;
  return (
    <span className="video-absence" data-open={isOpen(task) || undefined}>
      <Icon size={22} stroke={1.4} aria-hidden />
      <span className="video-absence-words">{absenceOf(task)}</span>
    </span>
  );
}
