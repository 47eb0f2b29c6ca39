import { Tooltip } from "@mantine/core";
import { isMember } from "../client/problem.ts";
import { t } from "../language/areas/components.ts";
import { components } from "../language/en/components.ts";

/** Colors: good works, busy is in progress, warn needs attention, bad failed, off is disabled. */
export type Tone = "good" | "busy" | "warn" | "bad" | "off";

interface StatusBadgeProps {
  /** The code of a state (`active`, `failed`, `given_up` …), with its text in `components.states`. */
  readonly status: string;
  /** Explains the state, if its label is not enough. */
  readonly tone?: Tone;
  /** Replaces the default label. */
  readonly label?: string;
  /** More about it, on hover and focus. */
  readonly hint?: string;
}

/** A state as a color and a label, because color alone is not accessible. */
export function StatusBadge({ status, tone, label, hint }: StatusBadgeProps) {
  const badge = (
    <span className="status" data-tone={tone ?? toneOf(status)}>
      {label ?? stateWords(status)}
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
  return tones[status.toLowerCase()] ?? "off";
}

const tones: Readonly<Record<string, Tone>> = {
  active: "good",
  enabled: "good",
  healthy: "good",
  succeeded: "good",
  completed: "good",
  done: "good",
  delivered: "good",
  applied: "good",
  yes: "good",
  queued: "busy",
  pending: "busy",
  running: "busy",
  in_progress: "busy",
  canceling: "busy",
  finalizing: "busy",
  processing: "busy",
  waiting: "busy",
  unhealthy: "warn",
  degraded: "warn",
  without_secret: "warn",
  interrupted: "warn",
  expired: "warn",
  down: "bad",
  exhausted: "bad",
  given_up: "bad",
  failed: "bad",
  rejected: "bad",
  refused: "bad",
};

/** The label of a state. An unknown code of a newer gateway is shown unchanged. */
export function stateWords(status: string): string {
  const code = status.toLowerCase().replaceAll(" ", "_");
  if (isMember(components.states, code)) return t(`components.states.${code}`);
  const words = status.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
