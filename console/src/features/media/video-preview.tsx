import { Loader } from "@mantine/core";
import { useInViewport, useReducedMotion } from "@mantine/hooks";
import { type ConsoleTask, taskContentPath } from "@sluice/contract";
import { IconAlertTriangle, IconMovie, IconMovieOff } from "@tabler/icons-react";
import { createContext, type ReactNode, use, useEffect, useRef, useState } from "react";
import { t } from "../../language/areas/media.ts";
import { frameOf } from "./frame-of.ts";
import { Slots } from "./slots.ts";
import { absenceOf, isOpen } from "./task-words.ts";

const loadedAtOnce = 3;
const patienceMs = 20_000;
const stillWidth = 640;

const SlotsContext = createContext<Slots | null>(null);

/** Wraps many previews, so that only a few videos are loaded at a time. */
export function PreviewSlots({ children }: { readonly children: ReactNode }) {
  const [slots] = useState(() => new Slots(loadedAtOnce));
  return <SlotsContext value={slots}>{children}</SlotsContext>;
}

interface VideoPreviewProps {
  readonly task: ConsoleTask;
  /** Plays the video while it is hovered or focused. */
  readonly moving?: boolean;
}

/** A still image of a task's video: its first frame, loaded when it becomes visible. Or the reason why there is no video. */
export function VideoPreview({ task, moving = false }: VideoPreviewProps) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (inViewport) setSeen(true);
  }, [inViewport]);
  return (
    <div ref={ref} className="video-frame">
      {task.has_content ? seen && <Still task={task} moving={moving} /> : <Absence task={task} />}
    </div>
  );
}

type StillState =
  | { readonly kind: "waiting" | "loading" | "broken" }
  | { readonly kind: "still"; readonly url: string };

function Still({ task, moving }: Required<VideoPreviewProps>) {
  const slots = use(SlotsContext);
  const calm = useReducedMotion();
  const leave = useRef<() => void>(() => undefined);
  const [state, setState] = useState<StillState>({ kind: "waiting" });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      setState({ kind: "loading" });
      timer = setTimeout(() => setState((now) => (now.kind === "loading" ? { kind: "broken" } : now)), patienceMs);
    };
    if (slots === null) begin();
    else leave.current = slots.take(begin);
    return () => {
      clearTimeout(timer);
      leave.current();
    };
  }, [slots]);
  // The image is kept and the video is removed, which frees its connection.
  useEffect(() => {
    if (state.kind === "still" || state.kind === "broken") leave.current();
  }, [state.kind]);
  const source = taskContentPath(task.workspace.slug, task.id);

  if (state.kind === "broken") {
    return (
      <span className="video-absence">
        <IconMovie size={22} stroke={1.4} aria-hidden />
        <span>{t("media.video.noPreview")}</span>
      </span>
    );
  }
  if (state.kind === "still") {
    return (
      <>
        <img src={state.url} alt="" />
        {moving && !calm && <video src={source} muted loop autoPlay playsInline tabIndex={-1} aria-hidden />}
      </>
    );
  }
  return (
    <>
      <Loader size="xs" color="gray" className="video-loading" aria-hidden />
      {state.kind === "loading" && (
        <video
          className="unseen"
          // The fragment makes browsers fetch the first frame of a video that is not played.
          src={`${source}#t=0.001`}
          preload="metadata"
          muted
          playsInline
          tabIndex={-1}
          aria-hidden
          onLoadedData={(event) => {
            const url = frameOf(event.currentTarget, stillWidth);
            setState(url === null ? { kind: "broken" } : { kind: "still", url });
          }}
          onError={() => setState({ kind: "broken" })}
        />
      )}
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
