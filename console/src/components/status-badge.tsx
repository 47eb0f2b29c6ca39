import { Tooltip } from "@mantine/core";

/** What colours mean, everywhere: good works, busy is under way, warn needs a look, bad failed, off is out of use. */
export type Tone = "good" | "busy" | "warn" | "bad" | "off";

interface StatusBadgeProps {
  /** A state of ours (`active`, `failed`, `down` …) or any other word together with `tone`. */
  readonly status: string;
  readonly tone?: Tone;
  readonly label?: string;
  /** More about it, on hover and focus. */
  readonly hint?: string;
}

/** A state in colour and in words; colour alone says nothing to many. */
export function StatusBadge({ status, tone, label, hint }: StatusBadgeProps) {
  const badge = (
    <span className="status" data-tone={tone ?? toneOf(status)}>
      {label ?? wordsOf(status)}
    </span>
  );
  if (hint === undefined) return badge;
  return (
    <Tooltip label={hint}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the hint must be reachable by keyboard. */}
      <span tabIndex={0}>{badge}</span>
    </Tooltip>
  );
}

export function toneOf(status: string): Tone {
  return tones[status] ?? "off";
}

const tones: Readonly<Record<string, Tone>> = {
  active: "good",
  Active: "good",
  enabled: "good",
  healthy: "good",
  succeeded: "good",
  applied: "good",
  yes: "good",
  queued: "busy",
  running: "busy",
  Processing: "busy",
  unhealthy: "warn",
  degraded: "warn",
  without_secret: "warn",
  interrupted: "warn",
  expired: "warn",
  down: "bad",
  failed: "bad",
  Failed: "bad",
  rejected: "bad",
  refused: "bad",
};

function wordsOf(status: string): string {
  const words = status.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
