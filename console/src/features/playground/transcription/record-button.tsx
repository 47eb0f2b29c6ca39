import { Button } from "@mantine/core";
import { IconMicrophone, IconPlayerStopFilled } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { t } from "../../../language/areas/playground.ts";
import { formatElapsed } from "../../media/task-words.ts";
import { useNow } from "../../media/use-now.ts";

const recordingMsMax = 10 * 60_000;

interface RecordButtonProps {
  readonly disabled: boolean;
  readonly onRecorded: (file: File) => void;
  /** Called with an error; null: the error is over. */
  readonly onProblem: (problem: string | null) => void;
}

/** Records with the microphone, ten minutes at most. */
export function RecordButton({ disabled, onRecorded, onProblem }: RecordButtonProps) {
  const [startedAt, setStartedAt] = useState<number | null>(null);
  const [asking, setAsking] = useState(false);
  const recorder = useRef<MediaRecorder | null>(null);
  const here = useRef(false);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
      release(recorder.current);
    };
  }, []);
  const start = async () => {
    onProblem(null);
    setAsking(true);
    const stream = await microphone();
    setAsking(false);
    if (typeof stream === "string") {
      onProblem(stream);
      return;
    }
    // The browser asks for permission first, and the user may have left the page since.
    if (!here.current) {
      silence(stream);
      return;
    }
    const made = new MediaRecorder(stream);
    const pieces: Blob[] = [];
    made.ondataavailable = ({ data }) => pieces.push(data);
    made.onstop = () => {
      release(made);
      setStartedAt(null);
      onRecorded(fileOf(pieces, made.mimeType));
    };
    recorder.current = made;
    made.start();
    setStartedAt(Date.now());
  };
  if (startedAt === null) {
    return (
      <Button
        key="record"
        variant="default"
        leftSection={<IconMicrophone size={15} aria-hidden />}
        disabled={disabled}
        loading={asking}
        onClick={start}
      >
        {t("playground.transcription.record")}
      </Button>
    );
  }
  return (
    <Button
      key="stop"
      color="red"
      variant="light"
      leftSection={<IconPlayerStopFilled size={15} aria-hidden />}
      onClick={() => recorder.current?.stop()}
    >
      {t("playground.transcription.recordStop")} <Elapsed since={startedAt} onLate={() => recorder.current?.stop()} />
    </Button>
  );
}

function Elapsed({ since, onLate }: { readonly since: number; readonly onLate: () => void }) {
  const elapsedMs = Math.max(0, useNow(true) - since);
  const late = elapsedMs > recordingMsMax;
  useEffect(() => {
    if (late) onLate();
  });
  return (
    <span className="tabular" aria-hidden>
      {formatElapsed(elapsedMs)}
    </span>
  );
}

/** The audio stream, or the reason why there is none. Pages without https have no access to microphones. */
async function microphone(): Promise<MediaStream | string> {
  if (!("mediaDevices" in navigator) || typeof MediaRecorder === "undefined") {
    return t("playground.transcription.needsHttps");
  }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (thrown) {
    return thrown instanceof DOMException && thrown.name === "NotFoundError"
      ? t("playground.transcription.noMicrophone")
      : t("playground.transcription.notAllowed");
  }
}

/** Releases the microphone, so that the browser's recording light turns off. */
function release(recorder: MediaRecorder | null): void {
  if (recorder === null) return;
  recorder.onstop = null;
  if (recorder.state !== "inactive") recorder.stop();
  silence(recorder.stream);
}

function silence(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

function fileOf(pieces: readonly Blob[], mimeType: string): File {
  const type = mimeType.split(";", 1)[0] || "audio/webm";
  return new File([...pieces], `recording.${type.slice(type.indexOf("/") + 1)}`, { type });
}
